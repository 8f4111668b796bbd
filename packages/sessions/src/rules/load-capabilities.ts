import { join } from "node:path";
import {
  type CapabilityProfile,
  type CapabilityProfileState,
  defaultProfile,
  leastPrivilege,
  profileAt,
  verifyCapabilityProfile,
} from "@gennai/governance/policies/capability-profile";
import { loadServerConfig } from "@gennai/machine/config/server-config";
import { readUserFile } from "@gennai/machine/config/user-file";
import { errorMessage } from "@gennai/protocol/error-message";
import { ledgerVerifier } from "@gennai/store/ledger/ledger-key";

export interface CapabilityFiles {
  /** Profile named by the user; then it must exist. */
  readonly named: string | undefined;
  /** Searched if none is named: `capabilities.json`, and `capabilities.pub` with the trusted keys. */
  readonly configDir: string;
  /** `keys/capabilities.pub` in it is trusted as well. */
  readonly stateDir: string;
  /** Whether a profile is required if `capabilities.required` in `server.json` is not set. */
  readonly requiredByDefault: boolean;
}

/** What is permitted at any moment: a profile can expire in the middle of a turn. */
export interface LoadedCapabilities {
  current(): CapabilityProfileState;
}

/**
 * Loads and checks the profile in force. Never rejects: without a file the default profile applies, unless one is required;
 * then, and if it is invalid, only reading is permitted.
 *
 * @param now milliseconds since the epoch
 */
export async function loadCapabilities(files: CapabilityFiles, now: () => number): Promise<LoadedCapabilities> {
  const file = files.named ?? join(files.configDir, "capabilities.json");
  let profile: CapabilityProfile;
  try {
    const text = await readUserFile(file);
    if (text === undefined) {
      if (files.named !== undefined) throw new Error("it is not there; put it there, or do not name it");
      await assertNotRequired(files);
      return { current: () => ({ profile: defaultProfile }) };
    }
    profile = await verifyCapabilityProfile(parseJson(text), ledgerVerifier(await trustedKeys(files)));
  } catch (error) {
    const state = leastPrivilege(`${file}: ${errorMessage(error)}`);
    return { current: () => state };
  }
  return { current: () => profileAt(profile, now()) };
}

/** Otherwise an agent without a profile would have more rights than one with it. */
async function assertNotRequired({ configDir, requiredByDefault }: CapabilityFiles): Promise<void> {
  const { capabilitiesRequired = requiredByDefault, problem } = await loadServerConfig(configDir);
  if (problem !== undefined)
    throw new Error(`no profile was found, and it is not known whether one is required: ${problem}`);
  if (!capabilitiesRequired) return;
  throw new Error(
    "no profile was found, but one is required (capabilities.required); put a signed profile there, or set that to false in server.json",
  );
}

async function trustedKeys({ configDir, stateDir }: CapabilityFiles): Promise<string> {
  const files = [join(configDir, "capabilities.pub"), join(stateDir, "keys", "capabilities.pub")];
  const keys = (await Promise.all(files.map(readUserFile))).filter((text) => text !== undefined);
  if (keys.length === 0) {
    throw new Error(`there is no public key to check it by; put the signer's into ${files[0] ?? configDir}`);
  }
  return keys.join("\n");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("it is not JSON; get it anew");
  }
}

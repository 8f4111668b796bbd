import { join } from "node:path";
import { versionProblem } from "@gennai/governance/limits/laid-down";
import {
  type Limit,
  type Limits,
  leastPrivilege,
  limitsAt,
  limitsWhileSent,
  meet,
  noLimits,
  onlyReading,
} from "@gennai/governance/limits/limits";
import { verifySignedPolicy } from "@gennai/governance/limits/signed-policy";
import { readUserFile } from "@gennai/machine/config/user-file";
import { errorMessage } from "@gennai/protocol/error-message";
import { oldestUnsent } from "@gennai/store/ledger/export-cursor";
import { ledgerVerifier } from "@gennai/store/ledger/ledger-key";
import { type LoadedPolicy, ManagedPolicy } from "./managed-policy.ts";

export interface LimitPlace {
  /** `GENNAI_POLICY` names a further policy, which must exist; so does `GENNAI_CAPABILITIES`, for one more release. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Has `policy.json`, and `policy.pub` with the trusted keys; `capabilities.json` and `.pub` for one more release. */
  readonly configDir: string;
  /** `keys/policy.pub` in it is trusted as well. */
  readonly stateDir: string;
  /** Root's policies; those of this machine by default. */
  readonly managed?: ManagedPolicy;
  /** Whether only reading is permitted where there is no policy: a server of many users. */
  readonly required: boolean;
  /** Of this program, e.g. `1.4.0`. */
  readonly version: string;
}

/** What is permitted at any moment, apart from the emergency controls: a policy can expire in the middle of a turn. */
export interface LoadedLimits extends Pick<LoadedPolicy, "files" | "warnings"> {
  current(): Limits;
}

/**
 * Loads and checks the policies in force. Never rejects: without one everything is permitted, unless one is required; then, and if one
 * cannot be used, only reading is permitted.
 *
 * @param now milliseconds since the epoch
 */
export async function loadLimits(place: LimitPlace, now: () => number): Promise<LoadedLimits> {
  const { managed = new ManagedPolicy() } = place;
  const [root, signed] = await Promise.all([managed.load(), signedPolicies(place)]);
  const mustBeSigned = root.limits.some(({ require }) => require?.license === true);
  const isMissing = signed.length === 0 && (mustBeSigned || (place.required && root.limits.length === 0));
  const limits = meet(root.limits, isMissing ? [noPolicy(place)] : signed).map((limit) => {
    const problem = versionProblem(limit, place.version);
    return problem === undefined ? limit : onlyReading(limit, problem);
  });
  const soon = now() + warnedMs;
  const ending = limits.flatMap(({ name, expires }) =>
    expires === undefined || expires > soon
      ? []
      : `The policy ${name} expires on ${new Date(expires).toISOString().slice(0, 10)}.`,
  );
  const sent = limitsWhileSent(limits, (name) => oldestUnsent(place.stateDir, name), now());
  return { files: root.files, warnings: [...root.warnings, ...ending], current: () => limitsAt(sent, now()) };
}

/** How long before its end a policy is spoken of. */
const warnedMs = 30 * 86_400_000;

/** Otherwise users without a policy would have more rights than those with one. */
function noPolicy({ configDir }: LimitPlace): Limit {
  const file = join(configDir, policyFile);
  const problem = `${file}: no policy was found, but one is required here; put a signed one there`;
  return leastPrivilege(problem, { name: "read-only", holder: "user", file });
}

const policyFile = "policy.json";

async function signedPolicies(place: LimitPlace): Promise<Limits> {
  const { environment, configDir } = place;
  const named = [environment["GENNAI_POLICY"], environment["GENNAI_CAPABILITIES"]].flatMap((file) => file || []);
  const limits = await Promise.all([
    ...named.map((file) => signedPolicy(file, place, { mustExist: true })),
    ...[policyFile, "capabilities.json"].map((name) =>
      signedPolicy(join(configDir, name), place, { mustExist: false }),
    ),
  ]);
  return limits.reduce<Limits>((all, limit) => meet(all, limit === undefined ? noLimits : [limit]), noLimits);
}

async function signedPolicy(
  file: string,
  place: LimitPlace,
  { mustExist }: { readonly mustExist: boolean },
): Promise<Limit | undefined> {
  const of = { holder: "user", file } as const;
  try {
    const text = await readUserFile(file);
    if (text !== undefined)
      return await verifySignedPolicy(parseJson(text), ledgerVerifier(await trustedKeys(place)), of);
    if (!mustExist) return undefined;
    throw new Error("it is not there; put it there, or do not name it");
  } catch (error) {
    return leastPrivilege(`${file}: ${errorMessage(error)}`, { name: "read-only", ...of });
  }
}

async function trustedKeys({ configDir, stateDir }: LimitPlace): Promise<string> {
  const files = ["policy.pub", "capabilities.pub"].flatMap((name) => [
    join(configDir, name),
    join(stateDir, "keys", name),
  ]);
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

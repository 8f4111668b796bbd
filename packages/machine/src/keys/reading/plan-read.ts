import { ToolFailure } from "@gennai/governance/tool-error";
import type { KeyPlan } from "../login/user-keys.ts";
import type { KeyContext } from "../plan-key.ts";
import { gitReader } from "./git-reader.ts";
import type { LoginReader } from "./login-reader.ts";
import { npmReader } from "./npm-reader.ts";
import { pipReader } from "./pip-reader.ts";

const readers: readonly LoginReader[] = [npmReader, gitReader, pipReader];

/**
 * Plans a run with the one login that a command needs to read from its host. Undefined if no login is known to be wanted, or
 * several are. Rejects with `ToolFailure` (`no_key`).
 *
 * @param text for the shell
 * @param wanted hosts, with their ports, that answered that they want a login
 */
export async function planRead(
  text: string,
  place: KeyContext,
  wanted: ReadonlySet<string>,
): Promise<KeyPlan | undefined> {
  const logins = (await loginsOf(text, place)).filter(({ host, always }) => always === true || wanted.has(host));
  const [login, ...more] = logins;
  return login === undefined || more.length > 0 ? undefined : login.plan();
}

/**
 * Hosts, with their ports, that wanted a login from a failed command, and for which the user has one. Empty if `planRead` would
 * not plan anything with them.
 *
 * @param output of the run without login
 * @param wanted hosts from earlier runs
 */
export async function wantedLogins(
  text: string,
  output: string,
  place: KeyContext,
  wanted: ReadonlySet<string>,
): Promise<readonly string[]> {
  const logins = await loginsOf(text, place, (reader) => reader.refused.test(output));
  const hosts = logins.filter(({ always }) => always !== true).map(({ host }) => host);
  const named = hosts.filter((host) => output.includes(host));
  const found = new Set(named.length > 0 ? named : hosts);
  const planned = logins.filter(({ host, always }) => always === true || wanted.has(host) || found.has(host));
  return planned.length === 1 ? [...found] : [];
}

/** Empty if the logins cannot be determined: public content can be read without one. */
async function loginsOf(text: string, place: KeyContext, isMeant: (reader: LoginReader) => boolean = () => true) {
  const found = readers.filter(isMeant).map(async (reader) => {
    try {
      return await reader.logins(text, place);
    } catch (error) {
      if (error instanceof ToolFailure) return [];
      throw error;
    }
  });
  return (await Promise.all(found)).flat();
}

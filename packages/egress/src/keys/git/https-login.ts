import { gitEnvironment } from "@gennai/git/run/git-environment";
import { machineGit } from "@gennai/git/run/machine-git";
import { noKey } from "../login/no-key.ts";
import { literal } from "../login/own-login.ts";
import { runUserProgram } from "../login/run-user-program.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { credentialHost, type GitAddress } from "./git-address.ts";
import type { SettingEntries } from "./git-settings-of.ts";

/** The login of the credential helper that the user's settings name for a host, in words for people, without running it. */
export function helperFor({ host, port }: GitAddress, user: SettingEntries): string | undefined {
  const named = credentialHost({ host, port });
  const helpers: string[] = [];
  for (const [name, value] of user) {
    const of = /^credential\.(?:(.+)\.)?helper$/s.exec(name);
    if (
      of === null ||
      (of[1] !== undefined && !new RegExp(`^https?://(?:[^/@]*@)?${literal(named)}(?:/|$)`).test(of[1]))
    )
      continue;
    // An empty value clears the list.
    if (value === "") helpers.length = 0;
    else helpers.push(value.startsWith("!") ? "a program of the user's own" : value);
  }
  const [first] = helpers;
  return first === undefined
    ? undefined
    : `the login that the user's credential helper (${first.slice(0, 60)}) has for ${named}`;
}

/** Asks the user's own helpers for exactly this host. Rejects with `ToolFailure` (`no_key`). */
export async function filledCredential(
  { scheme, host, port, user }: GitAddress,
  { environment }: UserKeys,
  signal: AbortSignal,
): Promise<{ readonly username: string; readonly password: string }> {
  const { program } = await machineGit();
  const named = credentialHost({ host, port });
  const asked = [`protocol=${scheme}`, `host=${named}`, ...(user === undefined ? [] : [`username=${user}`]), "", ""];
  const { code, output } = await runUserProgram(program, ["-c", "core.askPass=", "credential", "fill"], {
    // Outside of any repository, and without a program that asks on a screen.
    environment: { ...helperEnvironment(environment), GIT_DIR: "/dev/null" },
    input: asked.join("\n"),
    signal,
  });
  const answer = new Map(
    output.split("\n").map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, at), line.slice(at + 1)] as const;
    }),
  );
  const password = answer.get("password");
  if (code !== 0 || password === undefined || answer.get("host") !== named) {
    throw noKey(`The user's credential helper has no login for ${named}.`);
  }
  return { username: answer.get("username") ?? "", password };
}

/** A helper may need the whole environment of the user's session, except what leads git elsewhere. */
function helperEnvironment(environment: UserKeys["environment"]): Readonly<Record<string, string | undefined>> {
  const { GIT_ALLOW_PROTOCOL: _, ...git } = gitEnvironment();
  const own = Object.entries(environment).filter(([name]) => !/^GIT_|ASKPASS/.test(name));
  return { ...git, ...Object.fromEntries(own) };
}

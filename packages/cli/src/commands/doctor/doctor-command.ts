import { resolve } from "node:path";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import type { Check, Finding } from "@gennai/machine/finding";
import { errorMessage } from "@gennai/protocol/error-message";
import { installationChecks } from "@gennai/sessions/rules/config-checks";
import { logChecks } from "@gennai/store/log-checks";
import { readTokenFile } from "../../connection/server-token.ts";
import { usageError } from "../../terminal/cli-error.ts";
import { paintFor } from "../../terminal/colours.ts";
import { asTyped, type Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../terminal/version.ts";
import { type Said, said } from "../command-host.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";
import { certificateChecks } from "./certificate-checks.ts";
import { type ServerAddress, serverChecks } from "./server-checks.ts";

export interface DoctorFlags extends WorkspaceFlags {
  /** URL of a server; without it, those of the workspace. */
  readonly server?: string;
  /** Files with tokens, in the order of the servers. */
  readonly authTokenFile?: readonly string[];
  /** A certificate that a server is started with. */
  readonly tlsCert?: string;
  /** The log that servers share. */
  readonly log?: string;
  /** URLs of deployments that should be the same. */
  readonly compare?: readonly string[];
  readonly json?: boolean;
}

/** `gennai doctor`: what works here and what does not, each with what to do next. Fails if something does not work. */
export async function doctorCommand(flags: DoctorFlags, console: Console): Promise<Said> {
  if (flags.compare !== undefined) {
    const { compareDeployments } = await import("./compare-deployments.ts");
    const places = await Promise.all(flags.compare.map((url, index) => serverPlace(url, index, flags, console)));
    return compareDeployments(places, console);
  }
  const { environment } = console;
  const { workspaceRoot: workspace, stateDir } = await placeHere(flags, console);
  const place = { workspace, stateDir, configDir: userConfigDir(environment), environment, version };
  const named = flags.server === undefined ? undefined : await serverPlace(flags.server, 0, flags, console);
  const log = flags.log === undefined ? [] : logChecks(flags.log, environment);
  const checks = [
    ...installationChecks(place),
    ...(await serverChecks({ ...place, named })),
    ...(flags.tlsCert === undefined
      ? []
      : certificateChecks({ urls: [], file: resolve(console.directory, flags.tlsCert) })),
    ...log,
  ];
  const findings = await runChecks(checks, (finding) => {
    if (flags.json !== true) console.output.write(describe(finding, console));
  });
  const failed = findings.filter(({ state }) => state === "fail").length;
  const warned = findings.filter(({ state }) => state === "warn").length;
  const text = `${findings.length} checks: ${failed} failed, ${warned} with a warning\n`;
  const code = failed === 0 ? exitCode.ok : exitCode.failed;
  return said({ version, workspace, failed, warned, findings }, text, code);
}

const marks = { ok: ["green", "ok  "], warn: ["yellow", "warn"], fail: ["red", "FAIL"] } as const;

function describe({ check, state, text, next = [] }: Finding, console: Console): string {
  const [colour, mark] = marks[state];
  const paint = paintFor(console.output, console.environment);
  const say = (words: string): string => asTyped(terminalSafe(words), console.environment);
  const lines = [`${paint(colour, mark)}  ${check.padEnd(15)} ${say(text)}`];
  if (state !== "ok") lines.push(...next.map((step) => `      ${"".padEnd(15)} -> ${say(step)}`));
  return `${lines.join("\n")}\n`;
}

/** The token by `--auth-token-file`, else `GENNAI_AUTH_TOKEN_1`, `_2`, … in the order of the URLs, else `GENNAI_AUTH_TOKEN`. */
async function serverPlace(text: string, index: number, flags: DoctorFlags, console: Console): Promise<ServerAddress> {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw usageError(`${JSON.stringify(text)} is not a URL of a server.`, "For example: http://127.0.0.1:7777");
  }
  const files = flags.authTokenFile ?? [];
  const named = files.length === 1 ? files[0] : files[index];
  const { environment } = console;
  const token =
    named === undefined
      ? environment[`GENNAI_AUTH_TOKEN_${index + 1}`] || environment["GENNAI_AUTH_TOKEN"] || undefined
      : await readTokenFile(named, console);
  return { url: new URL(text).origin, token };
}

/** Milliseconds one check may take. */
const timeoutMs = 20_000;

/** Runs all checks, one after the other, and passes each finding on at once. Never rejects. */
export async function runChecks(
  checks: readonly Check[],
  tell: (finding: Finding) => void,
): Promise<readonly Finding[]> {
  const all: Finding[] = [];
  for (const { name, run } of checks) {
    for (const finding of await findingsOf(name, run)) {
      all.push(finding);
      tell(finding);
    }
  }
  return all;
}

async function findingsOf(check: string, run: Check["run"]): Promise<readonly Finding[]> {
  const stop = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const timer = setTimeout(() => {
    stop.abort();
    resolve({ check, state: "fail", text: `It gave no answer in ${timeoutMs / 1000} s.` });
  }, timeoutMs);
  try {
    return [await Promise.race([run(stop.signal), promise])].flat();
  } catch (error) {
    return [{ check, state: "fail", text: errorMessage(error) }];
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

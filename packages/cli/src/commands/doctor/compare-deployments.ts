import { Code, ConnectError } from "@connectrpc/connect";
import { connectGovernance } from "@gennai/client/connection/connection";
import { proves } from "../../connection/server-token.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { paintFor } from "../../terminal/colours.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { reachProblem } from "../../terminal/reach-problem.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { type Said, said } from "../command-host.ts";
import type { ServerAddress } from "./server-checks.ts";

/** Milliseconds. */
const timeout = 15_000;

/** What is known of a deployment, as one column: values by name. */
type Column = ReadonlyMap<string, string>;

interface Row {
  readonly what: string;
  /** One value for each deployment, in their order; empty if a deployment has none. */
  readonly values: readonly string[];
  readonly same: boolean;
}

/** Audit parity: compares deployments that should be the same. Fails if they differ in anything. */
export async function compareDeployments(places: readonly ServerAddress[], console: Console): Promise<Said> {
  if (places.length < 2) {
    throw usageError(
      "--compare takes the URLs of two servers or more.",
      "gennai doctor --compare https://one.example https://two.example",
    );
  }
  const columns = await Promise.all(places.map(columnOf));
  const rows = rowsOf(columns);
  const differing = rows.filter(({ same }) => !same);
  const deployments = places.map(({ url }) => url);
  const code = differing.length === 0 ? exitCode.ok : exitCode.failed;
  return said({ deployments, same: differing.length === 0, rows }, table(places, rows, console), code);
}

async function columnOf({ url, token }: ServerAddress): Promise<Column> {
  const signal = AbortSignal.timeout(timeout);
  if (token !== undefined && !(await proves(url, token))) {
    throw new CliError(`${url} does not answer as a Gennai server that knows this token.`, {
      exitCode: exitCode.failed,
      next: ["Check the address, and GENNAI_AUTH_TOKEN_1, _2, … or --auth-token-file, in the order of the URLs."],
    });
  }
  try {
    const parity = await connectGovernance({ baseUrl: url, ...(token === undefined ? {} : { token }) }).getParity(
      {},
      { signal },
    );
    const { emergency } = parity;
    return new Map([
      ["version", parity.version],
      ["protocol", `${parity.protocolVersion} ${parity.protocolSha256}`],
      ...parity.policy.map(({ name, sha256 }) => [`policy ${name}`, sha256] as const),
      ["emergency read-only", onOff(emergency?.readOnly)],
      ["emergency disable-high-impact", onOff(emergency?.disableHighImpact)],
      ["emergency stop-all", onOff(emergency?.stopAll)],
      ["emergency blocked", [...(emergency?.blockedTools ?? [])].sort().join(" ") || "nothing"],
      ...parity.release.map(({ name, sha256 }) => [`release ${name}`, sha256] as const),
    ]);
  } catch (error) {
    const failure = ConnectError.from(error);
    const { code } = failure;
    throw new CliError(`${url}: ${reachProblem(failure)}`, {
      exitCode: exitCode.failed,
      next: [
        code === Code.Unimplemented
          ? "That server is older than this question; compare what `gennai --version` says there."
          : code === Code.PermissionDenied
            ? "Use the token of an admin."
            : "Check the address and the token.",
      ],
      cause: error,
    });
  }
}

function onOff(state: boolean | undefined): string {
  return state === true ? "ON" : "off";
}

function rowsOf(columns: readonly Column[]): readonly Row[] {
  const names = new Set(columns.flatMap((column) => [...column.keys()]));
  return Array.from(names, (what) => {
    const values = columns.map((column) => column.get(what) ?? "");
    return { what, values, same: new Set(values).size === 1 };
  });
}

/** One line for each row, but only one for all equal files of the release. */
function table(places: readonly ServerAddress[], rows: readonly Row[], console: Console): string {
  const paint = paintFor(console.output, console.environment);
  const lines = [`      ${"".padEnd(32)}${places.map(({ url }) => cell(url)).join("")}`];
  const files = rows.filter(({ what }) => what.startsWith("release "));
  const sameFiles = files.filter(({ same }) => same).length;
  for (const { what, values, same } of rows) {
    if (same && what.startsWith("release ")) continue;
    const mark = same ? paint("green", "same") : paint("red", "DIFF");
    lines.push(`${mark}  ${terminalSafe(what).padEnd(32)}${values.map(cell).join("")}`);
  }
  lines.push(
    files.length === 0
      ? "      all of them run from source: no files to compare"
      : `      ${sameFiles} of ${files.length} files of the program are the same`,
  );
  const differing = rows.filter(({ same }) => !same).length;
  lines.push(differing === 0 ? "The deployments are the same." : `They differ in ${differing}.`);
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

function cell(text: string): string {
  // The beginning of a digest is enough to compare by eye.
  const short = text.replace(/\b([0-9a-f]{12})[0-9a-f]{52}\b/g, "$1…");
  return terminalSafe(short === "" ? "-" : short)
    .slice(0, 38)
    .padEnd(40);
}

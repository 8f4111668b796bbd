import { createWriteStream } from "node:fs";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline as piped } from "node:stream/promises";
import { errorMessage } from "@gennai/protocol/error-message";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { CliError, usageError } from "../terminal/cli-error.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { jsonLine } from "../terminal/terminal-safe.ts";
import { version } from "../terminal/version.ts";
import type { Pipeline } from "./pipeline.ts";
import { describeRefusal, fingerprintOf, placeOf } from "./refusal-place.ts";
import type { Refusal } from "./refusals.ts";

/** Where artefacts are written: a directory that does not exist yet, in one that exists. */
export interface ArtefactDirectory {
  /** Real path. */
  readonly parent: string;
  readonly name: string;
}

/** Checks the place before anything runs. Throws `CliError`. */
export async function artefactDirectory(named: string, directory: string): Promise<ArtefactDirectory> {
  const path = resolve(directory, named);
  const parent = await realpath(dirname(path)).catch(() => undefined);
  if (parent === undefined)
    throw usageError(`${dirname(path)} is not there.`, "Create it first, or name another place.");
  const place = { parent, name: basename(path) };
  if ((await realpath(path).catch(() => undefined)) !== undefined)
    throw usageError(`${named} is there already.`, "Name a directory that does not exist yet.");
  return place;
}

/**
 * Writes the run's result, its refusals as SARIF and for GitLab, and the ledger as a bundle. The agent could have put something
 * into that place meanwhile, so no file is overwritten and no link followed. Throws `CliError`.
 */
export async function writeArtefacts(
  { parent, name }: ArtefactDirectory,
  facts: { readonly pipeline: Pipeline; readonly workspace: string; readonly stateDir: string },
): Promise<string> {
  const directory = join(parent, name);
  const { pipeline, workspace, stateDir } = facts;
  try {
    if ((await realpath(parent)) !== parent) throw new Error("its parent was replaced");
    await mkdir(directory);
    const write = (file: string, value: unknown): Promise<void> =>
      writeFile(join(directory, file), `${jsonLine(value)}\n`, { flag: "wx" });
    await write("result.json", resultOf(pipeline));
    await write("refusals.sarif", sarifOf(pipeline.refusals, version));
    await write("code-quality.json", codeQualityOf(pipeline.refusals));
    const ledger = new WorkspaceLedger({ workspaceRoot: workspace, stateDir });
    await piped(ledger.export("bundle"), createWriteStream(join(directory, "ledger.bundle"), { flags: "wx" }));
  } catch (error) {
    throw new CliError(`The artefacts cannot be written to ${directory}: ${errorMessage(error)}`, {
      exitCode: exitCode.failed,
      next: ["Look at what is there now, and try again."],
      cause: error,
    });
  }
  return directory;
}

function resultOf({ end, problem, refusals }: Pipeline): object {
  const { outcome, text, changedFiles, refused, usage } = end?.report ?? {};
  return { outcome, exitCode: end?.code, error: problem, text, changedFiles, refused, refusals, usage };
}

/** The refusals as GitLab's Code Quality report (https://docs.gitlab.com/ci/testing/code_quality/), which a merge request shows. */
function codeQualityOf(refusals: readonly Refusal[]): readonly object[] {
  const seen = new Set<string>();
  return refusals.flatMap((refusal) => {
    const fingerprint = fingerprintOf(refusal);
    // A repeated fingerprint makes the whole report invalid.
    if (seen.has(fingerprint)) return [];
    seen.add(fingerprint);
    const { file, line } = placeOf(refusal);
    return {
      description: describeRefusal(refusal),
      check_name: refusal.rule,
      fingerprint,
      severity: refusal.unanswered ? "minor" : "major",
      location: { path: file, lines: { begin: line } },
    };
  });
}

/**
 * The refusals as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), which code scanning takes: a result for each, an error
 * where a rule refused, a warning where a question had no answer.
 */
function sarifOf(refusals: readonly Refusal[], version: string): object {
  const rules = [...new Set(refusals.map(({ rule }) => rule))];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "Gennai",
            version,
            rules: rules.map((id) => ({ id, shortDescription: { text: `The agent's call met the rule ${id}.` } })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: refusals.map((refusal) => {
          const { file, line } = placeOf(refusal);
          return {
            ruleId: refusal.rule,
            ruleIndex: rules.indexOf(refusal.rule),
            level: refusal.unanswered ? "warning" : "error",
            message: { text: plain(describeRefusal(refusal)) },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: file.split("/").map(encodeURIComponent).join("/"), uriBaseId: "%SRCROOT%" },
                  region: { startLine: line },
                },
              },
            ],
            partialFingerprints: { "gennaiRefusal/v1": fingerprintOf(refusal) },
            properties: { tool: refusal.tool, risk: refusal.risk, unanswered: refusal.unanswered },
          };
        }),
      },
    ],
  };
}

/** Brackets make a link of a message (3.11.6), and text of the model must not become a link. */
function plain(text: string): string {
  return text.replaceAll(/[\\[\]]/g, (character) => `\\${character}`);
}

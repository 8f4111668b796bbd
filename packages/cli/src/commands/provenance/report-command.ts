import { git } from "@gennai/git/run/run-git";
import { type ChangeReport, changeReport } from "@gennai/provenance/change-report";
import { partWords, type SharedPart, sharedParts, usualParts } from "@gennai/provenance/shared-parts";
import { signedReport } from "@gennai/provenance/signed-report";
import { openLedgerSigner } from "@gennai/store/ledger/ledger-key";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { jsonLine } from "../../terminal/terminal-safe.ts";
import { writeNewFile } from "../../terminal/write-new-file.ts";
import { partsOf } from "../options/chosen-parts.ts";
import { leavesText, leavingParts, neverLeaves } from "../options/what-leaves.ts";
import { commitNamed, openProvenance, type SourceFlags } from "./open-provenance.ts";
import { reportHtml } from "./report-html.ts";
import { reportMarkdown } from "./report-markdown.ts";
import { momentOf } from "./since.ts";

export interface ReportFlags extends SourceFlags {
  readonly since?: string;
  readonly to?: string;
  readonly format?: string;
  readonly include?: string;
  readonly out?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const formats = ["markdown", "html", "json", "in-toto"] as const;

/** Exit code if the report depends on data that differs from what was signed. */
const untrusted = 10;

/** `gennai report --since REF`. */
export async function reportCommand(flags: ReportFlags, console: Console): Promise<number> {
  const wanted = flags.json === true ? "json" : (flags.format ?? "markdown");
  const format = formats.find((name) => name === wanted);
  if (format === undefined) {
    throw usageError(`There is no format ${JSON.stringify(wanted)}.`, `Choose --format ${formats.join(", ")}.`);
  }
  if (flags.since === undefined) {
    throw usageError("A report needs a beginning.", "Name the branch that the change is for: --since main.");
  }
  const parts = partsOf(flags.include, { all: sharedParts, usual: usualParts });
  const { workspaceRoot, stateDir, provenance } = await openProvenance(flags, console);
  const to = await commitNamed(flags.to ?? "HEAD", workspaceRoot);
  const from = await meetingOf(await commitNamed(flags.since, workspaceRoot), to, workspaceRoot);
  const since = await momentOf(from, workspaceRoot);
  const report = await changeReport(provenance, { workspaceRoot, from, to, since, parts, now: Date.now });
  const texts = {
    markdown: () => reportMarkdown(report),
    html: () => reportHtml(report),
    json: () => `${jsonLine(report)}\n`,
    "in-toto": async () => `${await signed(report, { workspaceRoot, stateDir })}\n`,
  };
  const text = await texts[format]();
  if (flags.dryRun === true) console.errors.write(listed(parts));
  if (flags.out === undefined || flags.dryRun === true) console.output.write(text);
  else await writeNewFile(flags.out, [text], console);
  return provenance.trust.status === "ok" ? exitCode.ok : untrusted;
}

const vouchedFor: readonly string[] = ["store", "bundle", "notes"] satisfies ChangeReport["trust"]["source"][];

/** Throws `CliError` if there is nothing to sign, or nothing that may be relied on. */
async function signed(
  report: ChangeReport,
  { workspaceRoot, stateDir }: { readonly workspaceRoot: string; readonly stateDir: string },
): Promise<string> {
  if (report.trust.status !== "ok") {
    throw new CliError("The report is not signed, because the evidence is not as it was signed.", {
      next: ["The report in Markdown says what is wrong."],
    });
  }
  // Whoever made the evidence could have this machine's key vouch for it.
  if (!vouchedFor.includes(report.trust.source)) {
    throw new CliError("The report is not signed: nobody vouches for the key of this evidence.", {
      next: ["Name its signer's key with --public-key."],
    });
  }
  const { stdout } = await git(["rev-list", `${report.from}..${report.to}`], { directory: workspaceRoot });
  const commits = stdout.split("\n").filter((id) => id !== "");
  if (commits.length === 0) throw usageError("There is no commit to sign for.", "Name an earlier one with --since.");
  return signedReport(report, commits, await openLedgerSigner(stateDir));
}

/** A report never names calls or sessions, whatever was chosen. */
const reportedParts = [
  "model",
  "intent",
  "decision",
  "verification",
  "people",
] as const satisfies readonly SharedPart[];

function listed(parts: ReadonlySet<SharedPart>): string {
  const counts = "names of files, numbers of lines, the two commits, and the numbers of the ledger's records";
  const decision = `${partWords.decision}; of questions and refusals the time, tool and rule too`;
  return leavesText("Would be in the report, for everybody who gets it:", [
    { leaves: true, name: "files", what: counts },
    ...leavingParts(reportedParts, { ...partWords, decision, people: "the names of who said yes or no" }, parts),
    neverLeaves,
  ]);
}

/** Where two branches parted: what the other branch got since does not belong to this change. */
async function meetingOf(since: string, to: string, directory: string): Promise<string> {
  const { code, stdout } = await git(["merge-base", since, to], { directory });
  const id = stdout.trim();
  if (code !== 0 || id === "") {
    throw new CliError("The two commits have no common history.", { next: ["Name another beginning with --since."] });
  }
  return id;
}

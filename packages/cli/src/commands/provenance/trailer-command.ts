import { copyNote } from "@gennai/git/git-notes";
import { git } from "@gennai/git/run/run-git";
import { tracedLines } from "@gennai/provenance/commit-origins";
import { CliError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import type { Said } from "../command-host.ts";
import type { WorkspaceFlags } from "../options/resolve-workspace.ts";
import { leavesText, neverLeaves } from "../options/what-leaves.ts";
import { commitNamed, openProvenance } from "./open-provenance.ts";

export interface TrailerFlags extends WorkspaceFlags {
  readonly amend?: boolean;
  readonly dryRun?: boolean;
}

/** `gennai provenance trailer [REF]`: prints the lines, or puts them into the newest commit's message. */
export async function trailerCommand(name: string | undefined, flags: TrailerFlags, console: Console): Promise<Said> {
  if (flags.amend === true && name !== undefined && name !== "HEAD") {
    throw new CliError("Only the newest commit's message is changed.", { next: ["Leave out the commit."] });
  }
  const { workspaceRoot, provenance } = await openProvenance(flags, console);
  const commit = await commitNamed(name ?? "HEAD", workspaceRoot);
  const traced = await tracedLines(provenance, workspaceRoot, commit, (write) => write);
  const writers = new Set(traced.flatMap(({ write: { agent, model } }) => agent ?? (model === "" ? [] : model)));
  const trailers = [...writers].sort().map((writer) => `Assisted-by: gennai:${tokenOf(writer)}`);
  if (trailers.length === 0) {
    console.errors.write(`No recorded call of an agent wrote a line that ${commit.slice(0, 12)} brought in.\n`);
    return { text: "" };
  }
  if (flags.dryRun === true) console.errors.write(listed);
  if (flags.amend !== true || flags.dryRun === true) return { text: `${trailers.join("\n")}\n` };
  const changed = await amend(workspaceRoot, commit, trailers);
  const short = commit.slice(0, 12);
  if (changed === undefined) return { text: `The message of ${short} has it already.\n` };
  return { text: `${short} is ${changed.slice(0, 12)} now: ${trailers.join(", ")}\n` };
}

const listed = leavesText("Would go along with the commit, to everybody who gets it:", [
  { leaves: true, name: "model", what: "the names of the models or agents that wrote lines of it" },
  { leaves: false, name: "people", what: "never; nor intents, decisions, calls, sessions" },
  neverLeaves,
]);

/** A name as one word, as trailers have it. */
function tokenOf(writer: string): string {
  return terminalSafe(writer)
    .replaceAll(/[^A-Za-z0-9._/:@+-]+/g, "-")
    .slice(0, 200);
}

/** Gives a commit another message; tree, parents, author and dates stay. @returns its new id */
async function amend(directory: string, commit: string, trailers: readonly string[]): Promise<string | undefined> {
  const refs = ["for-each-ref", `--contains=${commit}`, "--count=1", "--format=%(refname)", "refs/remotes"];
  const pushed = (await git(refs, { directory })).stdout.trim();
  if (pushed !== "") {
    throw new CliError(`${commit.slice(0, 12)} is in ${terminalSafe(pushed)} already: others may have it.`, {
      next: ["Nothing was changed. Put the trailer into the next commit: git commit --trailer …"],
    });
  }
  const { stdout } = await git(["cat-file", "commit", commit], { directory });
  const end = stdout.indexOf("\n\n");
  const header = stdout.slice(0, end);
  if (end === -1 || /^encoding /m.test(header)) {
    throw new CliError(`The message of ${commit.slice(0, 12)} is not in UTF-8.`, { next: ["Nothing was changed."] });
  }
  const message = stdout.slice(end + 2).trimEnd();
  const missing = trailers.filter((line) => !message.split("\n").includes(line));
  if (missing.length === 0) return undefined;
  // A signature of the old message is not valid for the new one.
  const unsigned = header.replaceAll(/^(?:gpgsig|gpgsig-sha256) .*(?:\n .*)*\n?/gm, "").trimEnd();
  const last = message.split(/\n\n+/).at(-1) ?? "";
  const hasTrailers = message.includes("\n\n") && last.split("\n").every((line) => /^[A-Za-z][\w-]*: \S/.test(line));
  const text = `${unsigned}\n\n${message}${hasTrailers ? "\n" : "\n\n"}${missing.join("\n")}\n`;
  const place = { directory, writes: "working-tree" } as const;
  const made = await git(["hash-object", "-t", "commit", "-w", "--stdin"], { ...place, input: text });
  const id = made.stdout.trim();
  // Only if nobody moved the branch meanwhile.
  const move = ["update-ref", "-m", "gennai provenance trailer", "HEAD", id, commit];
  const moved = made.code === 0 ? await git(move, place) : made;
  if (moved.code !== 0) {
    throw new CliError(`git did not take the new message: ${terminalSafe(moved.stderr.trim())}`, {
      next: ["The commit is as it was. Try again."],
    });
  }
  await copyNote(directory, commit, id);
  return id;
}

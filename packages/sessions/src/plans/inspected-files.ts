import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { Session } from "../session/session.ts";
import { KnownFiles } from "../session/state/known-files.ts";
import { pathName } from "../tools/path-name.ts";
import { type FileAction, type FileNow, readFileNow, shaOf, textAfter } from "./plan-file.ts";

/** The files of a plan, first as they are, then as its actions leave them, in memory. */
export class InspectedFiles {
  readonly known = new KnownFiles();
  readonly bases = new Map<string, string | undefined>();
  readonly #paths = new Map<string, WorkspacePath>();
  readonly #now = new Map<string, FileNow>();
  readonly #problems = new Map<string, string>();
  readonly #session: Session;
  readonly #signal: AbortSignal;

  constructor(session: Session, signal: AbortSignal) {
    this.#session = session;
    this.#signal = signal;
  }

  async look(action: FileAction): Promise<void> {
    const { workspace } = this.#session;
    const path = await workspace.resolve(action.path);
    this.#paths.set(action.path, path);
    if (!path.inside || this.#now.has(path.relative)) return;
    try {
      const now = await readFileNow(workspace, path, this.#signal);
      this.#now.set(path.relative, now);
      this.bases.set(path.relative, shaOf(now));
      this.known.observe({ path: path.relative, source: "disk", sha256: shaOf(now) });
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      this.#problems.set(action.path, error.message);
    }
  }

  /** The change of one action, applied after those before it. */
  workOut(action: FileAction, id: string): { readonly change: ProposedChange; readonly judgedText: string } {
    const path = this.#paths.get(action.path);
    const name = path === undefined ? action.path : pathName(path);
    const before: FileNow = (path && this.#now.get(path.relative)) ?? { type: "missing" };
    const after = textAfter(action, before);
    const oldText = before.type === "text" ? before.text : "";
    const problem = this.#problems.get(action.path) ?? (after.type === "conflict" ? after.reason : undefined);
    const newText = after.type === "text" ? after.text : oldText;
    const operation = before.type === "missing" ? "create" : "update";
    const diff =
      problem === undefined ? unifiedDiff({ path: name, operation, oldText, newText: plain(newText) }) : undefined;
    if (problem === undefined && path !== undefined) {
      this.#now.set(path.relative, { type: "text", text: plain(newText), sha256: shaOf(before) ?? "" });
    }
    return {
      change: {
        id,
        path: name,
        operation,
        newContent: problem === undefined ? newText : "",
        unifiedDiff: diff?.text ?? "",
        hunks: diff?.hunks ?? [],
        baseSha256: shaOf(before) ?? "",
        conflict: problem !== undefined,
        warning: problem ?? (newText === oldText ? "The file already has exactly this text." : ""),
      },
      // A write without a change would be no call; the rules about the path do not depend on its text.
      judgedText: newText === oldText ? `${newText}\n` : newText,
    };
  }
}

function plain(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

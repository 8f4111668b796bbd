import { lstat, readFile } from "node:fs/promises";
import { resolvePath } from "@gennai/machine/workspace/paths/resolve-path";
import type { RecordedWrite } from "./matching/recorded-write.ts";
import type { WorkspaceProvenance } from "./workspace-provenance.ts";

/** Larger files are not looked into, in bytes. */
const maxBytes = 1024 * 1024;
/** Files that are looked into for one call, those it wrote first. */
const mostFiles = 100;

/** A call, as records name it. */
export interface RecordedCall {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
}

export interface RemainingLines {
  /** Lines that the records say it wrote. */
  readonly written: number;
  /** Those that have lines of it today, and those it wrote that have none any more. */
  readonly files: readonly RemainingInFile[];
}

export interface RemainingInFile {
  readonly path: string;
  /** False: it is gone, or is not text that can be looked into. */
  readonly readable: boolean;
  readonly spans: readonly { readonly firstLine: number; readonly lineCount: number }[];
}

/**
 * Present places of lines that a call wrote: in the files it wrote, whatever git calls them now, and in all others that records
 * name, if they exist. @param workspaceRoot real absolute path
 */
export async function remainingLines(
  provenance: WorkspaceProvenance,
  call: RecordedCall,
  workspaceRoot: string,
): Promise<RemainingLines> {
  const isOfCall = (write: RecordedWrite): boolean =>
    write.sessionId === call.sessionId && write.turnId === call.turnId && write.call?.id === call.callId;
  const own = provenance.writes.filter(isOfCall);
  const ownPaths = new Set(own.map(({ path }) => path));
  // A moved block is searched for in the files that records name, newest first.
  const others = provenance.writes.map(({ path }) => path).toReversed();
  const renamed = ownPaths.size === 0 ? [] : await provenance.namesOf(ownPaths);
  const paths = ownPaths.size === 0 ? [] : [...new Set([...ownPaths, ...renamed, ...others])].slice(0, mostFiles);
  const files: RemainingInFile[] = [];
  for (const path of paths) {
    const text = await textOf(workspaceRoot, path);
    const origins = text === undefined ? [] : await provenance.originsOf(path, text);
    const spans = spansOf(origins.map((origin) => origin.type === "recorded" && isOfCall(origin.write)));
    if (spans.length > 0 || ownPaths.has(path)) files.push({ path, readable: text !== undefined, spans });
  }
  const blocks = own.flatMap((write) => write.blocks);
  return { written: blocks.reduce((sum, { startLine, endLine }) => sum + endLine - startLine + 1, 0), files };
}

function spansOf(lines: readonly boolean[]): RemainingInFile["spans"] {
  const spans: { firstLine: number; lineCount: number }[] = [];
  for (const [at, isIts] of lines.entries()) {
    if (!isIts) continue;
    const last = spans.at(-1);
    if (last !== undefined && last.firstLine + last.lineCount === at + 1) last.lineCount += 1;
    else spans.push({ firstLine: at + 1, lineCount: 1 });
  }
  return spans;
}

/** Undefined if it is no text in the workspace: a record names a path, and anything may be there now. */
async function textOf(workspaceRoot: string, path: string): Promise<string | undefined> {
  try {
    const { absolute, inside } = resolvePath(workspaceRoot, path);
    const found = inside ? await lstat(absolute) : undefined;
    if (found?.isFile() !== true || found.size > maxBytes) return undefined;
    const bytes = await readFile(absolute);
    return bytes.includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  }
}

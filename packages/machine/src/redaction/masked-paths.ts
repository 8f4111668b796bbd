import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Redactor } from "@gennai/governance/redaction";
import type { FileChange } from "@gennai/governance/tool";

/** The same files, with secrets in their paths masked. */
export async function withMaskedPaths<File extends { readonly path: string }>(
  files: readonly File[],
  redactor: Redactor,
): Promise<readonly File[]> {
  return Promise.all(files.map(async (file) => ({ ...file, path: await redactor.redact(file.path) })));
}

/** What was changed as the ledger has it: by digests, with secrets in paths masked. */
export async function recordedFiles(
  files: readonly FileChangeRecord[],
  redactor: Redactor,
): Promise<readonly FileChange[]> {
  return (await withMaskedPaths(files, redactor)).map(({ path, operation, beforeSha256, afterSha256 }) => {
    return { path, operation, beforeSha256, afterSha256, blocks: [] };
  });
}

/** An event as clients may see it; the log keeps the real paths, because files are found by them. */
export async function eventWithMaskedPaths(event: SessionEvent, redactor: Redactor): Promise<SessionEvent> {
  switch (event.type) {
    case "change-set-applied":
      return { ...event, files: await withMaskedPaths(event.files, redactor) };
    case "change-set-undone":
      return { ...event, files: await withMaskedPaths(event.files, redactor) };
    case "checkpoint-closed":
      return { ...event, files: await withMaskedPaths(event.files, redactor) };
    case "checkpoint-restoring":
      return { ...event, files: await withMaskedPaths(event.files, redactor) };
    case "checkpoint-restored":
      return { ...event, files: await withMaskedPaths(event.files, redactor) };
    default:
      return event;
  }
}

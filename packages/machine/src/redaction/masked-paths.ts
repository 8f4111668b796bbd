import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Redactor } from "@gennai/governance/redaction";

/** The same files, a secret in a name masked. */
export async function withMaskedPaths<File extends { readonly path: string }>(
  files: readonly File[],
  redactor: Redactor,
): Promise<readonly File[]> {
  return Promise.all(files.map(async (file) => ({ ...file, path: await redactor.redact(file.path) })));
}

/** An event as clients may see it: the log keeps the names by which files are found again. */
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

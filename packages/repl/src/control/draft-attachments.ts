import { fencedText } from "@gennai/client/session/text/fenced-text";
import { signal } from "@preact/signals";

/** A text that is sent with a prompt as material, e.g. the output of a terminal. */
export interface Attachment {
  readonly id: string;
  /** One line. */
  readonly title: string;
  readonly text: string;
}

/** Most characters of one attachment that are sent. */
export const attachmentLimit = 60_000;

/** Attachments of the prompt that is being written. */
export class DraftAttachments {
  readonly list = signal<readonly Attachment[]>([]);

  add(title: string, text: string): void {
    const line = title.replaceAll(/\s+/g, " ").trim().slice(0, 200);
    this.list.value = [...this.list.value, { id: crypto.randomUUID(), title: line, text }];
  }

  remove(id: string): void {
    this.list.value = this.list.value.filter((attachment) => attachment.id !== id);
  }

  clear(): void {
    this.list.value = [];
  }

  /** The prompt, followed by the attachments, each in a fence of its own. */
  behind(text: string): string {
    return [text, ...this.list.value.map(asMaterial)].filter((part) => part !== "").join("\n\n");
  }
}

function asMaterial({ title, text }: Attachment): string {
  const left = text.length - attachmentLimit;
  if (left <= 0) return fencedText(text, title);
  // The important part of an output is its end.
  return fencedText(text.slice(left), `${title} (the last ${attachmentLimit} of ${text.length} characters)`);
}

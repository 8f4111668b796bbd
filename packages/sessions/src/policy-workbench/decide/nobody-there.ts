import type { Redactor } from "@gennai/governance/redaction";
import { editorMethods } from "@gennai/protocol/model/session/editor-messages";
import type { BlobStore } from "@gennai/store/log/session-log";

// Replacements for what a session has and the workbench does not: an editor, a content store, masking.

export const plain: Redactor = {
  redact: async (text) => text,
  stream: () => ({ push: async (text) => text, end: async () => "" }),
};

const nothingRuns = (): never => {
  throw new Error("The workbench runs nothing.");
};

export const noEditor = { ...editorMethods(nothingRuns), can: () => false };

export const noBlobs: BlobStore = { put: nothingRuns, get: async () => undefined };

import type { Redactor } from "@gennai/governance/redaction";
import { editorMethods } from "@gennai/protocol/model/editor/editor-messages";
import type { BlobStore } from "@gennai/store/log/session-log";

// What a session has and the workbench has not: no editor, no store of contents, nothing to mask.

export const plain: Redactor = {
  redact: async (text) => text,
  stream: () => ({ push: async (text) => text, end: async () => "" }),
};

export const nothingRuns = (): never => {
  throw new Error("The workbench runs nothing.");
};

export const noEditor = { ...editorMethods(nothingRuns), can: () => false };

export const noBlobs: BlobStore = { put: nothingRuns, get: async () => undefined };

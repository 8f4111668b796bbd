import { beforeEach, expect, test, vi } from "vitest";
import type { Uri } from "vscode";
import { ContentDocuments } from "../../src/documents/content-documents.ts";

type Listener = (document: { readonly uri: Uri }) => void;
const editor = vi.hoisted(() => ({ opened: [] as Listener[], closed: [] as Listener[] }));
vi.mock("vscode", () => {
  const heard = (listeners: Listener[]) => (listener: Listener) => {
    listeners.push(listener);
    return { dispose: () => void listeners.splice(listeners.indexOf(listener), 1) };
  };
  return {
    workspace: { onDidOpenTextDocument: heard(editor.opened), onDidCloseTextDocument: heard(editor.closed) },
    Uri: {
      from: ({ scheme, path, query }: Record<string, string>) => ({
        scheme,
        path,
        toString: () => `${scheme}:${path}?${query}`,
      }),
    },
  };
});

const open = (uri: Uri) => {
  for (const listener of [...editor.opened]) listener({ uri });
};
const close = (uri: Uri) => {
  for (const listener of [...editor.closed]) listener({ uri });
};
const gone = /no longer held/;

beforeEach(() => {
  editor.opened.length = 0;
  editor.closed.length = 0;
});

test("all files of one call are held, however many, while one of them is open", () => {
  const documents = new ContentDocuments({ mostBytes: 1000 });
  const { add } = documents.group();
  const uris = Array.from({ length: 500 }, (_, index) => add(`${index}.txt`, `text ${index}`));
  const shown = () => uris.filter((uri) => !gone.test(documents.provideTextDocumentContent(uri))).length;
  expect(shown()).toBe(500);
  const [first, second] = uris as [Uri, Uri];
  open(first);
  open(second);
  close(first);
  const later = documents.add("later.txt", "later");
  expect([shown(), documents.provideTextDocumentContent(later)]).toEqual([500, "later"]);
  close(second);
  expect([shown(), documents.provideTextDocumentContent(later)]).toEqual([0, "later"]);
});

test("what was closed is still there to be opened again, up to the bound, and the oldest goes first", () => {
  const documents = new ContentDocuments({ mostBytes: 1000 });
  const subject = { type: "proposed", proposalId: "p", changeId: "c" } as const;
  const uris = Array.from({ length: 5 }, (_, index) => documents.add(`${index}.txt`, "x".repeat(100), subject));
  for (const uri of uris) open(uri);
  for (const uri of uris) close(uri);
  const held = () => uris.map((uri) => documents.subjectOf(uri) !== undefined);
  expect(held()).toEqual([true, true, true, true, true]);
  documents.add("more.txt", "x".repeat(150));
  expect(held()).toEqual([false, false, true, true, true]);
  documents.dispose();
  expect([editor.opened, editor.closed]).toEqual([[], []]);
});

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import type { WorkspaceOperation } from "@gennai/agent/events/workspace-operation";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { sha256Hex } from "@gennai/protocol/digest";
import { FileBlobStore } from "@gennai/store/sqlite/file-blob-store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, expect, test } from "vitest";
import type { AnswerTo, WorkspaceAnswer, WorkspaceChannel } from "#bridge/workspace-answer";
import { openClientWorkspaces } from "#client-workspace/open-client-workspaces";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

type Answers = Partial<Record<WorkspaceOperation["type"], WorkspaceAnswer>>;

/** A workspace whose client answers what it is told to answer. */
async function held(answers: Answers) {
  const state = await temporaryDirectory();
  open.push(state);
  mkdirSync(state.path("blobs"));
  const asked: WorkspaceOperation[] = [];
  const channel: WorkspaceChannel = {
    async ask<Type extends WorkspaceOperation["type"]>(
      operation: Extract<WorkspaceOperation, { readonly type: Type }>,
    ) {
      asked.push(operation);
      const answer = answers[operation.type];
      if (answer?.type === "failure") throw answer.failure;
      if (answer === undefined) throw new Error(`Nobody expected a ${operation.type}.`);
      return answer as AnswerTo<Type>;
    },
  };
  const blobs = new FileBlobStore(state.path("blobs"));
  const workspaces = openClientWorkspaces({ stateDir: state.root, blobs, now: Date.now });
  const facts = { id: "0123456789abcdef", name: "w", root: "/home/u/w", home: "/home/u", platform: "linux" };
  const workspace = workspaces.open({ ...facts, commands: "none" }, { sessionId: "s", user: "", channel });
  return { workspace, asked, state, answers, workspaces };
}

const at = (relative: string) => ({ raw: relative, relative, absolute: `/home/u/w/${relative}`, inside: true });
const bytes = (text: string) => new TextEncoder().encode(text);
const read = (text: string, sha256 = sha256Hex(text), size = text.length) =>
  ({ type: "read", bytes: bytes(text), sha256, size }) as const;

const resolved = [
  ["outside that claims to be inside", { relative: "x", absolute: "/etc/x", inside: true }],
  ["inside that claims to be outside", { relative: "", absolute: "/home/u/w/x", inside: false }],
  ["another relative path", { relative: "harmless", absolute: "/home/u/w/.git/config", inside: true }],
  ["a path that leads up", { relative: "a/../../x", absolute: "/home/u/w/a/../../x", inside: true }],
  ["no absolute path", { relative: "x", absolute: "x", inside: true }],
  ["a sibling of the root", { relative: "", absolute: "/home/u/w2", inside: true }],
  ["invisible characters", { relative: "a\u200b", absolute: "/home/u/w/a\u200b", inside: true }],
] as const;

test.each(resolved)("a resolution to %s is not believed", async (_, answer) => {
  const { workspace } = await held({ resolve: { type: "resolve", ...answer } });
  await expect(workspace.resolve("x")).rejects.toMatchObject({ name: "ToolFailure" });
});

test("a path that is none is not even asked about", async () => {
  const { workspace, asked } = await held({});
  for (const raw of ["", "a\0b", "\ud800", "~/x"]) {
    await expect(workspace.resolve(raw)).rejects.toMatchObject({ code: "bad_path" });
  }
  await expect(workspace.read({ ...at("x"), inside: false }, { maxBytes: 9 })).rejects.toMatchObject({
    code: "outside_workspace",
  });
  expect(asked).toEqual([]);
});

test.each([
  ["another content than its digest", read("abc", sha256Hex("abd")), "client_error"],
  ["more than it may", read("abcdefghijkl"), "too_large"],
  ["less than it said, for ever", read("", sha256Hex("abc"), 3), "client_error"],
] as const)("a read that brings %s fails", async (_, answer, code) => {
  const { workspace } = await held({ read: answer });
  await expect(workspace.read(at("x"), { maxBytes: 10 })).rejects.toMatchObject({ code });
});

test("a change that the client reports differently is not success", async () => {
  const { workspace } = await held({
    change: {
      type: "change",
      files: [{ beforeSha256: "", afterSha256: sha256Hex("b"), beforeMode: undefined, madeDirectories: [] }],
    },
  });
  await expect(workspace.apply([{ operation: "create", path: at("x"), bytes: bytes("a") }])).rejects.toMatchObject({
    code: "applied_differently",
    failureClass: "partial_execution",
  });
});

const file = (path: string, text: string, problem = "") => ({ path, bytes: bytes(text), problem });
const control = (files: readonly ReturnType<typeof file>[], branch = "work") =>
  ({
    type: "control",
    control: {
      digest: sha256Hex(JSON.stringify([files.length, branch])),
      files,
      git: { branch, commit: "a".repeat(40), remoteDefault: "main", hooksPath: "" },
    },
  }) as const;

test("what steers the agent is read here as it is there, and gone when it is gone there", async () => {
  const rules = file(".gennai/config.yaml", "paths: { deny: [secret/**] }\n");
  const { workspace, answers, asked } = await held({ control: control([rules, file("AGENTS.md", "notes")]) });
  expect(() => workspace.controlRoot).toThrow("were not read yet");
  await workspace.syncControl();
  expect(await loadProjectConfig(workspace.controlRoot)).toMatchObject({ denyPaths: ["secret/**"] });
  expect(readGitHead(workspace.controlRoot)).toMatchObject({ type: "branch", branch: "work" });
  await workspace.syncControl({ maxAgeMs: 60_000 });
  expect(asked).toHaveLength(1);

  answers.control = control([file("AGENTS.md", "other notes")], "other");
  await workspace.syncControl();
  expect(await loadProjectConfig(workspace.controlRoot)).toMatchObject({ denyPaths: [] });
  expect(readFileSync(`${workspace.controlRoot}/AGENTS.md`, "utf8")).toBe("other notes");
  expect(readGitHead(workspace.controlRoot)).toMatchObject({ branch: "other" });
  answers.control = { type: "control", control: "unchanged" };
  await workspace.syncControl();
  expect(asked.at(-1)).toMatchObject({ knownDigest: sha256Hex(JSON.stringify([1, "other"])) });
});

test("a rule file with a problem stops turns, as an unreadable one of this machine does", async () => {
  const { workspace } = await held({
    control: control([file(".gennai/config.yaml", "", "leads out of the workspace")]),
  });
  await workspace.syncControl();
  await expect(loadProjectConfig(workspace.controlRoot)).rejects.toMatchObject({ code: "failed_precondition" });
});

const bad = [
  ["a file that nobody asked for", control([file("src/a.ts", "x")])],
  ["a path that leads out of the mirror", control([file(".gennai/../../../x", "x")])],
  ["git's own files", control([file(".git/config", "x")])],
  ["one file twice", control([file("AGENTS.md", "x"), file("AGENTS.md", "y")])],
  ["a file below a file", control([file(".gennai/a", "x"), file(".gennai/a/b", "y")])],
  ["a branch that leads elsewhere", control([], "../../x")],
  ["a branch of control characters", control([], "a\nb")],
  ["no change of nothing", { type: "control", control: "unchanged" } as const],
] as const;

test.each(bad)("%s is not mirrored, and nothing can be read then", async (_, answer) => {
  const { workspace, state } = await held({ control: answer });
  await expect(workspace.syncControl()).rejects.toMatchObject({ code: "client_error" });
  expect(() => workspace.controlRoot).toThrow("were not read yet");
  expect(existsSync(state.path("x"))).toBe(false);
});

test("too many or too large files are refused with what to do", async () => {
  const { workspace } = await held({ control: control([file(".gennai/large", "x".repeat(13 * 1024 * 1024))]) });
  await expect(workspace.syncControl()).rejects.toMatchObject({ code: "too_large" });
});

test("the mirror goes with the process, and what another left behind with the next", async () => {
  const { workspace, workspaces, state } = await held({ control: control([file("AGENTS.md", "x")]) });
  await workspace.syncControl();
  const directory = workspace.controlRoot;
  expect(existsSync(directory)).toBe(true);
  mkdirSync(state.path("client-workspaces/999999999/s"), { recursive: true });
  workspaces[Symbol.dispose]();
  expect(existsSync(directory)).toBe(false);
  openClientWorkspaces({ stateDir: state.root, blobs: new FileBlobStore(state.root), now: Date.now });
  expect(existsSync(state.path("client-workspaces/999999999"))).toBe(false);
});

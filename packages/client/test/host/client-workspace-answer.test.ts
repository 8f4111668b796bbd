import { create } from "@bufbuild/protobuf";
import { sha256Hex } from "@gennai/protocol/digest";
import { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { WorkspaceRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/workspace_pb";
import { ClientWorkspaceError } from "@gennai/protocol/model/session/client-workspace";
import { expect, test } from "vitest";
import type { ClientWorkspacePort } from "../../src/connection/client-workspace-port.ts";
import { bindRequest } from "../../src/host/client-answer.ts";
import { answerWorkspaceRequest, workspaceFailure } from "../../src/host/client-workspace-answer.ts";

const signal = new AbortController().signal;
const options = { signal, onOutput: () => {}, fetchContent: async () => new TextEncoder().encode("new") };

/** A workspace that must not be asked: each call is remembered. */
function untouched(): ClientWorkspacePort & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const note = async (...call: unknown[]): Promise<never> => {
    asked.push(call);
    throw new Error("/home/user/.ssh/id_rsa was looked at");
  };
  return {
    asked,
    facts: { id: "0123456789abcdef", name: "w", root: "/w", home: "/h", platform: "linux", commands: "none" },
    resolve: note,
    stat: note,
    read: note,
    list: note,
    find: note,
    search: note,
    change: note,
    readControl: note,
  };
}

type Operation = NonNullable<Parameters<typeof create<typeof WorkspaceRequestSchema>>[1]>["operation"];
const request = (operation: Operation) => create(WorkspaceRequestSchema, { requestId: "r", operation });

const elsewhere = ["../x", "a/../../x", "/etc/passwd", "a//b", "./a", "C:/x", "a\\..\\b", "a\nb", "a\u200b/b"];

test.each(elsewhere)("a server that names %j gets nothing, whatever it wants with it", async (path) => {
  const workspace = untouched();
  const changes = [{ path, contentSha256: sha256Hex("new"), baseSha256: "", emptied: [] }];
  for (const operation of [
    { case: "statPath", value: { path } },
    { case: "readContent", value: { path, length: 1, maxBytes: 9n } },
    { case: "listNames", value: { path, limit: 1 } },
    { case: "findFiles", value: { base: path, pattern: "*" } },
    { case: "searchFiles", value: { base: path, pattern: "x" } },
    { case: "changeFiles", value: { changes } },
    { case: "changeFiles", value: { changes: [{ ...changes[0], path: "a", emptied: [path] }] } },
    { case: "readControl", value: { files: [path] } },
    { case: "readControl", value: { directories: [path] } },
  ] satisfies Operation[]) {
    await expect(answerWorkspaceRequest(workspace, request(operation), options)).rejects.toBeInstanceOf(
      ClientWorkspaceError,
    );
  }
  expect(workspace.asked).toEqual([]);
});

test.each([".git/config", "a/.git/hooks/x", ".GIT/x", ".git /x", ".git./x", "git~1/x", ".git", ""])(
  "%j is not changed for any server",
  async (path) => {
    const workspace = untouched();
    const value = { changes: [{ path, contentSha256: sha256Hex("new"), baseSha256: "", emptied: [] }] };
    const asked = answerWorkspaceRequest(workspace, request({ case: "changeFiles", value }), options);
    await expect(asked).rejects.toBeInstanceOf(ClientWorkspaceError);
    expect(workspace.asked).toEqual([]);
  },
);

test("content that is not what the server named is not written", async () => {
  const workspace = untouched();
  const value = { changes: [{ path: "a", contentSha256: sha256Hex("other"), baseSha256: "", emptied: [] }] };
  const asked = answerWorkspaceRequest(workspace, request({ case: "changeFiles", value }), options);
  await expect(asked).rejects.toMatchObject({ code: "client_error" });
  expect(workspace.asked).toEqual([]);
});

test("commands are refused where none run, and an operation of a newer server is named", async () => {
  const run = request({ case: "runProgram", value: { command: "ls" } });
  await expect(answerWorkspaceRequest(untouched(), run, options)).rejects.toMatchObject({ code: "tool_unavailable" });
  const unknown = answerWorkspaceRequest(untouched(), request({ case: undefined }), options);
  await expect(unknown).rejects.toThrow("older than the server");
});

test("text of an error that nobody expected stays here", async () => {
  const failed = answerWorkspaceRequest(untouched(), request({ case: "statPath", value: { path: "a" } }), options);
  const told = workspaceFailure(await failed.catch((error: unknown) => error));
  expect(JSON.stringify(told)).not.toContain("id_rsa");
  expect(told).toMatchObject({ case: "failure", value: { code: "client_error" } });
});

test("only the client that is named answers, and only one that holds files", () => {
  const client = { clientId: "me", fetchContent: options.fetchContent };
  const event = (clientId: string) =>
    create(InvokeEventSchema, {
      event: {
        case: "workspaceRequest",
        value: { requestId: "r", clientId, operation: { case: "runProgram", value: { command: "ls" } } },
      },
    });
  expect(bindRequest(event("me"), { workspace: untouched() }, client)).toMatchObject({ changesNothing: false });
  expect(bindRequest(event(""), { workspace: untouched() }, client)).toBeUndefined();
  expect(bindRequest(event("other"), { workspace: untouched() }, client)).toBeUndefined();
  expect(bindRequest(event("me"), {}, client)).toBeUndefined();
});

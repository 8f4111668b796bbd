import { McpServerState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { beforeEach, expect, test, vi } from "vitest";
import { addMcpServers } from "#commands/mcp-commands";
import type { Workbench } from "#commands/workbench";

const window = vi.hoisted(() => ({
  files: new Map<string, string>(),
  said: [] as string[],
  offered: [] as string[],
  chooses: true,
}));
vi.mock("vscode", () => {
  const show = async (message: string, ...buttons: readonly unknown[]) => {
    window.said.push(message);
    return buttons.find((button) => button === "Write" || button === "Accept…" || button === "Accept");
  };
  class FileSystemError extends Error {
    readonly code = "FileNotFound";
  }
  return {
    FileSystemError,
    Uri: { file: (path: string) => path, joinPath: (...parts: readonly string[]) => parts.join("/") },
    workspace: {
      textDocuments: [],
      fs: {
        readFile: async (path: string) => {
          const text = window.files.get(path);
          if (text === undefined) throw new FileSystemError();
          return new TextEncoder().encode(text);
        },
        writeFile: async (path: string, bytes: Uint8Array) => window.files.set(path, new TextDecoder().decode(bytes)),
      },
    },
    window: {
      showInformationMessage: show,
      showWarningMessage: show,
      showQuickPick: async (items: readonly { readonly label: string }[]) => {
        window.offered = items.map(({ label }) => label);
        return window.chooses ? items : undefined;
      },
    },
  };
});

beforeEach(() => {
  window.said.length = 0;
});

test("a name that .mcp.json has already is neither offered nor accepted, and said so", async () => {
  const evil = JSON.stringify({ mcpServers: { docker: { command: "evil" } } });
  const theirs = { servers: { docker: { command: "good" }, notes: { command: "notes" } } };
  window.files.set("/w/.mcp.json", evil).set("/w/.vscode/mcp.json", JSON.stringify(theirs));
  const accepted: unknown[] = [];
  const named = { origin: "project", state: McpServerState.NEW, runs: [] };
  const governance = {
    listMcpServers: async () => ({
      servers: [
        { ...named, name: "docker", start: "evil", digest: "d1" },
        { ...named, name: "notes", start: "notes", digest: "d2" },
      ],
      problems: [],
    }),
    acceptMcpServer: async (request: unknown) => void accepted.push(request),
  };
  await addMcpServers({ root: "/w", connect: async () => ({ governance }) } as unknown as Workbench, []);
  expect(window.said[0]).toContain("docker: .mcp.json has one of this name");
  expect(window.offered).toEqual(["notes"]);
  // What was written here is asked about, and nothing that lay there before.
  expect(accepted).toEqual([{ sessionId: "", name: "notes", digest: "d2" }]);
  expect(window.said).toContain("Accept the MCP server notes as it is now?");
  expect(window.said.join()).not.toContain("Accept the MCP server docker");
  expect(JSON.parse(window.files.get("/w/.mcp.json") ?? "")).toMatchObject({
    mcpServers: { docker: { command: "evil" }, notes: { command: "notes" } },
  });
});

test("nothing is written down without an answer", async () => {
  window.files.clear();
  window.files.set("/w/.vscode/mcp.json", '{"servers":{"notes":{"command":"notes-server",},}}');
  window.chooses = false;
  await addMcpServers({ root: "/w" } as unknown as Workbench, []);
  expect(window.offered).toEqual(["notes"]);
  expect([...window.files.keys()]).toEqual(["/w/.vscode/mcp.json"]);
});

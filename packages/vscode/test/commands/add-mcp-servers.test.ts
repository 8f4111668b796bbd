import { beforeEach, expect, test, vi } from "vitest";
import { addMcpServers } from "#commands/mcp-commands";
import type { Workbench } from "#workbench";

const window = vi.hoisted(() => ({
  files: new Map<string, string>(),
  said: [] as string[],
  offered: [] as string[],
  copied: "",
}));
vi.mock("vscode", () => {
  const show = async (message: string, ...buttons: readonly unknown[]) => {
    window.said.push(message);
    return buttons.find((button) => button === "Write" || button === "Copy Commands");
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
    env: { clipboard: { writeText: async (text: string) => void (window.copied = text) } },
    window: {
      showInformationMessage: show,
      showWarningMessage: show,
      showQuickPick: async (items: readonly { readonly label: string }[]) => {
        window.offered = items.map(({ label }) => label);
        return items;
      },
    },
  };
});

beforeEach(() => {
  window.said.length = 0;
  window.copied = "";
});

test("a name that .mcp.json has already is neither offered nor accepted, and said so", async () => {
  const evil = JSON.stringify({ mcpServers: { docker: { command: "evil" } } });
  const theirs = { servers: { docker: { command: "good" }, notes: { command: "notes" } } };
  window.files.set("/w/.mcp.json", evil).set("/w/.vscode/mcp.json", JSON.stringify(theirs));
  await addMcpServers({ root: "/w" } as unknown as Workbench, []);
  expect(window.said[0]).toContain("docker: .mcp.json has one of this name");
  expect(window.offered).toEqual(["notes"]);
  expect(window.copied).toBe("gennai mcp accept notes");
  expect(JSON.parse(window.files.get("/w/.mcp.json") ?? "")).toMatchObject({
    mcpServers: { docker: { command: "evil" }, notes: { command: "notes" } },
  });
});

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Editor } from "@gennai/client/connection/editor";
import { bindRequest } from "@gennai/client/host/client-answer";
import { sha256Hex } from "@gennai/protocol/digest";
import { ChangeOperation, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { AnswerInit } from "@gennai/protocol/model/session/editor-messages";

type RequestBody = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;
type Answer<Case extends AnswerInit["case"]> = Extract<AnswerInit, { case: Case }>["value"];

/** What a conformance test has: an editor on a directory of its own, and a directory beside it that nobody may touch. */
export interface BridgeScene {
  readonly editor: Editor;
  /** Real absolute path. */
  readonly root: string;
  /** Real absolute path, outside the workspace. */
  readonly outside: string;
}

/** One test for every editor with the ability. It uses neither vitest nor VS Code, because both run it. */
export interface BridgeCase {
  readonly name: string;
  readonly ability: "readFile" | "runCommand" | "applyChanges" | "confirm";
  readonly check: (at: SceneTools) => Promise<void>;
}

export type ProposedFields = {
  readonly path: string;
  readonly operation?: "create" | "update" | "delete";
  readonly text?: string;
  /** The text, or bytes, the change is based on. */
  readonly base?: string | Uint8Array;
  readonly conflict?: boolean;
  readonly blob?: boolean;
};

const operations = {
  create: ChangeOperation.CREATE,
  update: ChangeOperation.UPDATE,
  delete: ChangeOperation.DELETE,
} as const;

/** The scene, with what tests do in it. Requests go through the bridge's own binding, answers come back as they go out. */
export class SceneTools {
  readonly scene: BridgeScene;
  /** Live output of the command that runs. */
  live = "";

  constructor(scene: BridgeScene) {
    this.scene = scene;
  }

  path(name: string): string {
    return join(this.scene.root, name);
  }

  async write(name: string, content: string | Uint8Array, mode?: number): Promise<void> {
    await mkdir(dirname(this.path(name)), { recursive: true });
    await writeFile(this.path(name), content);
    if (mode !== undefined) await chmod(this.path(name), mode);
  }

  async read(name: string): Promise<string> {
    return (await readFile(this.path(name))).toString("utf8");
  }

  async mode(name: string): Promise<number> {
    return (await stat(this.path(name))).mode & 0o777;
  }

  async link(name: string, target: string): Promise<void> {
    await symlink(target, this.path(name));
  }

  /** Every file below the workspace, without git's own. */
  async tree(): Promise<readonly string[]> {
    const entries = await readdir(this.scene.root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(this.scene.root, join(entry.parentPath, entry.name)))
      .filter((name) => !name.startsWith(".git/"))
      .sort();
  }

  async outsideTree(): Promise<readonly string[]> {
    return readdir(this.scene.outside);
  }

  async answer<Case extends AnswerInit["case"]>(
    kind: Case,
    event: RequestBody,
    options: { readonly signal?: AbortSignal; readonly onOutput?: (text: string) => void } = {},
  ): Promise<Answer<Case>> {
    const request = bindRequest(create(InvokeEventSchema, { event }), this.scene.editor, {
      clientId: "scene",
      fetchContent: () => Promise.reject(new Error("No content is fetched here.")),
    });
    assert.ok(request, `the editor answers ${event.case}`);
    const { signal = new AbortController().signal, onOutput = (text) => void (this.live += text) } = options;
    const body = await request.answer({ signal, onOutput });
    assert.equal(body.case, kind);
    return body.value as Answer<Case>;
  }

  run(command: string, options: { readonly cwd?: string; readonly signal?: AbortSignal } = {}) {
    const value = { requestId: randomUUID(), command, cwd: options.cwd ?? "", terminalName: "Gennai Agent" };
    return this.answer(
      "commandDispatchResponse",
      { case: "executeCommandRequest", value },
      options.signal === undefined ? {} : { signal: options.signal },
    );
  }

  readFile(path: string, lines: { readonly offset?: number; readonly limit?: number } = {}) {
    const value = { requestId: randomUUID(), path, offset: lines.offset ?? 0, limit: lines.limit ?? 0 };
    return this.answer("fileReadResponse", { case: "requestFileRead", value });
  }

  apply(...changes: readonly ProposedFields[]) {
    const value = { requestId: randomUUID(), changeSetId: randomUUID(), changes: changes.map(proposed) };
    return this.answer("applyChangesResponse", { case: "applyChangesRequest", value });
  }

  /** Nothing is applied: files and their bytes are unchanged. */
  async refuses(message: RegExp, ...changes: readonly ProposedFields[]): Promise<void> {
    const contents = async () =>
      Promise.all(
        (await this.tree()).map(async (name) => [name, await readFile(this.path(name), "base64").catch(() => "")]),
      );
    const before = await contents();
    const answer = await this.apply(...changes);
    assert.match(answer.error ?? "", message);
    assert.deepEqual(answer.files ?? [], []);
    assert.deepEqual(await contents(), before);
    assert.deepEqual(await this.outsideTree(), []);
  }
}

export function hashOf(content: string | Uint8Array): string {
  return sha256Hex(content);
}

function proposed(change: ProposedFields, index: number) {
  const { path, operation = "update", text = "", base, conflict = false, blob = false } = change;
  return {
    id: `c${index + 1}`,
    path,
    operation: operations[operation],
    newContent: text,
    baseSha256: base === undefined ? "" : sha256Hex(base),
    conflict,
    ...(blob ? { newContentBlob: { sha256: sha256Hex("elsewhere"), size: 9n, mediaType: "text/plain" } } : {}),
  };
}

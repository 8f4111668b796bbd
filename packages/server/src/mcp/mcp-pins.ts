import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "@gennai/protocol/digest";
import * as z from "zod";
import { ensurePrivateDirectory, isErrorCode, readPrivateFile, writePrivateFile } from "../http/private-file.ts";
import type { McpServer } from "./mcp-config.ts";
import type { McpDefinition } from "./mcp-connection.ts";

const pinsSchema = z.strictObject({
  /** Name of a repository's server to the digest that was accepted. */
  servers: z.record(z.string(), z.string()),
  /** `server/tool` to the definition that was accepted. */
  tools: z.record(z.string(), z.strictObject({ digest: z.string(), description: z.string() })),
});
type Pins = z.infer<typeof pinsSchema>;

/** How a definition stands to what the user accepted. */
export type PinState =
  | { readonly type: "accepted" }
  | { readonly type: "new" }
  | { readonly type: "changed"; readonly acceptedDescription: string };

/** What a user accepted of MCP servers in one workspace, in the state directory: private, and out of any agent's reach. */
export class McpPins {
  readonly #directory: string;
  readonly #file: string;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(stateDir: string, workspaceRoot: string) {
    this.#directory = join(stateDir, "mcp");
    this.#file = join(this.#directory, `${sha256Hex(workspaceRoot).slice(0, 32)}.json`);
  }

  async serverAccepted(server: McpServer): Promise<boolean> {
    return server.origin === "user" || (await this.#read()).servers[server.name] === server.digest;
  }

  async stateOf({ server, tool, digest }: McpDefinition): Promise<PinState> {
    const pin = (await this.#read()).tools[`${server}/${tool}`];
    if (pin === undefined) return { type: "new" };
    return pin.digest === digest ? { type: "accepted" } : { type: "changed", acceptedDescription: pin.description };
  }

  async acceptServer(server: McpServer): Promise<void> {
    await this.#change((pins) => ({ ...pins, servers: { ...pins.servers, [server.name]: server.digest } }));
  }

  async acceptTool({ server, tool, digest, description }: McpDefinition): Promise<void> {
    await this.#change((pins) => ({
      ...pins,
      tools: { ...pins.tools, [`${server}/${tool}`]: { digest, description: description.slice(0, 4_000) } },
    }));
  }

  #change(change: (pins: Pins) => Pins): Promise<void> {
    const changed = this.#writing.then(async () => {
      const text = JSON.stringify(change(await this.#read()), undefined, 2);
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await ensurePrivateDirectory(this.#directory);
      await writePrivateFile(this.#file, text);
    });
    this.#writing = changed.catch(() => undefined);
    return changed;
  }

  /** Nothing is accepted when the file is missing or is not what was written. */
  async #read(): Promise<Pins> {
    try {
      return pinsSchema.parse(JSON.parse(await readPrivateFile(this.#file)));
    } catch (error) {
      if (isErrorCode(error, "ENOENT") || error instanceof SyntaxError || error instanceof z.ZodError) {
        return { servers: {}, tools: {} };
      }
      throw error;
    }
  }
}

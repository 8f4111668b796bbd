import { join } from "node:path";
import { sha256Hex } from "@gennai/protocol/digest";
import { PrivateJson } from "@gennai/store/private-json";
import * as z from "zod";
import type { McpServer } from "./mcp-config.ts";
import type { McpDefinition } from "./mcp-definition.ts";

const pinsSchema = z.strictObject({
  /** Name of a server that runs something of the repository to the digest that was accepted. */
  servers: z.record(z.string(), z.string()),
  /** `server/tool` to the accepted definition, and the digest of its server. */
  tools: z.record(
    z.string(),
    z.strictObject({ digest: z.string(), description: z.string(), server: z.string().default("") }),
  ),
});
type Pins = z.infer<typeof pinsSchema>;

/** A definition compared with what the user accepted. */
export type PinState =
  | { readonly type: "accepted" }
  | { readonly type: "new" }
  | { readonly type: "changed"; readonly acceptedDescription: string }
  /** Only its server changed. */
  | { readonly type: "other-server" };

/** What a user accepted of MCP servers in one workspace. */
export class McpPins {
  readonly #pins: PrivateJson<Pins>;

  constructor(stateDir: string, workspaceRoot: string) {
    const name = join("mcp", `${sha256Hex(workspaceRoot).slice(0, 32)}.json`);
    this.#pins = new PrivateJson<Pins>(stateDir, name, { schema: pinsSchema, nothing: { servers: {}, tools: {} } });
  }

  /** The user's own server needs no acceptance, unless it runs something in the workspace, which others may have put there. */
  async stateOfServer(server: McpServer): Promise<"accepted" | "new" | "changed"> {
    if (server.origin === "user" && Object.keys(server.runs).length === 0) return "accepted";
    const pin = (await this.#pins.read()).servers[server.name];
    if (pin === undefined) return "new";
    return pin === server.digest ? "accepted" : "changed";
  }

  /** @param serverDigest of the server with this description: the same text from another server was not accepted */
  async stateOf({ server, tool, digest }: McpDefinition, serverDigest: string): Promise<PinState> {
    const pin = (await this.#pins.read()).tools[`${server}/${tool}`];
    if (pin === undefined) return { type: "new" };
    if (pin.digest !== digest) return { type: "changed", acceptedDescription: pin.description };
    return { type: pin.server === serverDigest ? "accepted" : "other-server" };
  }

  async acceptServer(server: McpServer): Promise<void> {
    await this.#pins.change((pins) => ({ ...pins, servers: { ...pins.servers, [server.name]: server.digest } }));
  }

  async acceptTool({ server, tool, digest, description }: McpDefinition, serverDigest: string): Promise<void> {
    const pin = { digest, description: description.slice(0, 4_000), server: serverDigest };
    await this.#pins.change((pins) => ({ ...pins, tools: { ...pins.tools, [`${server}/${tool}`]: pin } }));
  }
}

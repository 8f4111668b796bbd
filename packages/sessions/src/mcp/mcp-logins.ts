import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ensurePrivateDirectory } from "@gennai/machine/private-file";
import { tryFileLock } from "@gennai/machine/process/locks/file-lock";
import { digestOf } from "@gennai/protocol/digest";
import { PrivateJson } from "@gennai/store/private-json";
import * as z from "zod";
import type { McpStart } from "./mcp-config.ts";

const clientSchema = z.looseObject({ client_id: z.string() });
const tokensSchema = z.looseObject({ access_token: z.string(), token_type: z.string() });
const loginSchema = z.object({
  /** Who the authorization server takes us for. */
  client: clientSchema.optional(),
  tokens: tokensSchema.optional(),
  /** Where it was found, so that a server that names another one later gets nothing of it. */
  discovery: z.looseObject({ authorizationServerUrl: z.string() }).optional(),
  /** ISO 8601. */
  since: z.string().optional(),
});
const fileSchema = z.object({ logins: z.record(z.string(), loginSchema) });

/** What is kept of a login at one MCP server. */
export type KeptLogin = z.infer<typeof loginSchema>;

/** An MCP server that is logged in at: a login counts for this address alone. */
export interface LoginPlace {
  readonly name: string;
  readonly url: string;
  /** Who we are there: the id of a registered client, or the https address of its metadata document. Without it we register. */
  readonly client?: string | undefined;
}

/** Where a server behind an address is logged in at. */
export function loginPlace(name: string, { url, client }: Extract<McpStart, { readonly type: "http" }>): LoginPlace {
  return { name, url, client };
}

/** Milliseconds between looks at what another process does. */
const betweenLooks = 20;

/** Logins at MCP servers. */
export class McpLogins {
  readonly #directory: string;
  readonly #file: PrivateJson<z.infer<typeof fileSchema>>;
  readonly #learn: (secret: string) => void;
  readonly #learnt = new Set<string>();

  /** @param learn is told each token, to mask it in texts */
  constructor(stateDir: string, learn: (secret: string) => void = () => undefined) {
    this.#learn = learn;
    this.#directory = join(stateDir, "mcp");
    this.#file = new PrivateJson(stateDir, join("mcp", "logins.json"), { schema: fileSchema, nothing: { logins: {} } });
  }

  async find(place: LoginPlace): Promise<KeptLogin | undefined> {
    return (await this.#read())[keyOf(place)];
  }

  /** Those that have tokens, with the time of each. */
  async list(): Promise<readonly { readonly place: LoginPlace; readonly since: string }[]> {
    return Object.entries(await this.#read()).flatMap(([key, { tokens, since = "" }]) => {
      const [name = "", url = ""] = key.split(" ");
      return tokens === undefined ? [] : [{ place: { name, url }, since }];
    });
  }

  /** @param change undefined: removes it */
  keep(place: LoginPlace, change: ((login: KeptLogin) => KeptLogin) | undefined): Promise<void> {
    return this.#file.change(({ logins: { [keyOf(place)]: before = {}, ...others } }) => {
      const logins = change === undefined ? others : { ...others, [keyOf(place)]: change(before) };
      this.#teach(logins);
      return { logins };
    });
  }

  /** Renews in one process at a time: a token that renews is used up by it, and one that is used twice ends the login. */
  async renewing<Result>(place: LoginPlace, renew: () => Promise<Result>): Promise<Result> {
    await ensurePrivateDirectory(join(this.#directory, ".."));
    await ensurePrivateDirectory(this.#directory);
    const file = join(this.#directory, `renewing-${digestOf(keyOf(place)).slice(0, 16)}.lock`);
    for (;;) {
      using lock = tryFileLock(file);
      if (lock !== undefined) return await renew();
      await pause(betweenLooks);
    }
  }

  #teach(logins: Readonly<Record<string, KeptLogin>>): void {
    for (const secret of Object.values(logins).flatMap(({ tokens }) => [
      tokens?.access_token,
      tokens?.["refresh_token"],
    ])) {
      if (typeof secret !== "string" || this.#learnt.has(secret)) continue;
      this.#learnt.add(secret);
      this.#learn(secret);
    }
  }

  async #read(): Promise<Readonly<Record<string, KeptLogin>>> {
    const { logins } = await this.#file.read();
    this.#teach(logins);
    return logins;
  }
}

function keyOf({ name, url }: LoginPlace): string {
  return `${name} ${url}`;
}

import { join } from "node:path";
import { ensurePrivateDirectory, findPrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import pLimit from "p-limit";
import * as z from "zod";

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
}

/** Logins at MCP servers, in the state directory: private, and out of reach of any agent. Each time read anew: other processes write too. */
export class McpLogins {
  readonly #directory: string;
  readonly #file: string;
  readonly #inOrder = pLimit(1);
  readonly #learn: (secret: string) => void;
  readonly #learnt = new Set<string>();

  /** @param learn is told each token, to mask it in texts */
  constructor(stateDir: string, learn: (secret: string) => void = () => undefined) {
    this.#learn = learn;
    this.#directory = join(stateDir, "mcp");
    this.#file = join(this.#directory, "logins.json");
  }

  async find(place: LoginPlace): Promise<KeptLogin | undefined> {
    return (await this.#read())[keyOf(place)];
  }

  /** @param change undefined: removes it */
  keep(place: LoginPlace, change: ((login: KeptLogin) => KeptLogin) | undefined): Promise<void> {
    return this.#inOrder(async () => {
      const { [keyOf(place)]: before = {}, ...others } = await this.#read();
      const logins = change === undefined ? others : { ...others, [keyOf(place)]: change(before) };
      await ensurePrivateDirectory(join(this.#directory, ".."));
      await ensurePrivateDirectory(this.#directory);
      this.#teach(Object.values(logins));
      await replaceFile(this.#file, JSON.stringify({ logins }, undefined, 2));
    });
  }

  #teach(logins: readonly KeptLogin[]): void {
    for (const secret of logins.flatMap(({ tokens }) => [tokens?.access_token, tokens?.["refresh_token"]])) {
      if (typeof secret !== "string" || this.#learnt.has(secret)) continue;
      this.#learnt.add(secret);
      this.#learn(secret);
    }
  }

  /** A missing or damaged file has no logins. */
  async #read(): Promise<Readonly<Record<string, KeptLogin>>> {
    try {
      const text = await findPrivateFile(this.#file);
      if (text === undefined) return {};
      const { logins } = fileSchema.parse(JSON.parse(text));
      this.#teach(Object.values(logins));
      return logins;
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
      return {};
    }
  }
}

function keyOf({ name, url }: LoginPlace): string {
  return `${name} ${url}`;
}

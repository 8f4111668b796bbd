import { Agent, request } from "node:http";
import { StringDecoder } from "node:string_decoder";

/** A chunk of a streamed answer, as far as the floor looks. */
export interface ChatChunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly ChatCallPiece[] };
  }[];
}

/** A call comes in pieces: its name first, then its arguments. */
export interface ChatCallPiece {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments?: string };
}

const agent = new Agent({ keepAlive: true, noDelay: true, maxSockets: Infinity });

/**
 * The least that gets a streamed answer: one POST over a connection that stays, lines, JSON. No `fetch`: its streams alone took
 * as long as all else that the floor does.
 */
export function askChat(baseUrl: string, body: string, take: (chunk: ChatChunk) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(`${baseUrl}/chat/completions`, { method: "POST", agent, headers }, (response) => {
      const decoder = new StringDecoder("utf8");
      let rest = "";
      response.on("data", (bytes: Buffer) => {
        const lines = (rest + decoder.write(bytes)).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          if (line.startsWith("data: {")) take(JSON.parse(line.slice(6)) as ChatChunk);
        }
      });
      response.once("end", resolve).once("error", reject);
    });
    sent.once("error", reject).end(body);
  });
}

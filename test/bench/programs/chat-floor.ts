/** A chunk of a streamed answer, as far as the floor looks. */
export interface ChatChunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string; readonly tool_calls?: readonly ChatCall[] };
  }[];
}

export interface ChatCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The least that gets a streamed answer: one POST, lines, JSON. */
export async function* chatChunks(baseUrl: string, body: object): AsyncGenerator<ChatChunk> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: {")) yield JSON.parse(line.slice(6)) as ChatChunk;
    }
  }
}

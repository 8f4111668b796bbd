/** The one message of a request whose answer is a stream; undefined when none came. */
export async function onlyMessage<Value>(messages: AsyncIterable<Value>): Promise<Value | undefined> {
  for await (const message of messages) return message;
  return undefined;
}

export async function* once<Value>(value: Value | undefined): AsyncGenerator<Value> {
  if (value !== undefined) yield value;
}

/** The session that a request names; undefined when it names none. */
export function sessionIdOf(message: object | undefined): string | undefined {
  if (message === undefined || !("sessionId" in message)) return undefined;
  return typeof message.sessionId === "string" && message.sessionId !== "" ? message.sessionId : undefined;
}

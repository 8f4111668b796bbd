import * as z from "zod";

const message = z.looseObject({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
  result: z.unknown().optional(),
});
export type Message = z.infer<typeof message>;

/** A message, and who sent it. */
export interface Sent {
  readonly by: "editor" | "agent";
  readonly message: Message;
}

const agentsMethod = /^(?:session\/(?:update|request_permission)|fs\/|terminal\/|elicitation\/)/;

/** The lines of acpx's JSON output, which has both sides; an answer is from the one who was asked last with its id. */
export function sentIn(lines: string): readonly Sent[] {
  const asked = new Map<string, Sent["by"]>();
  return lines
    .split("\n")
    .filter((line) => line.startsWith('{"jsonrpc"'))
    .map((line) => {
      const parsed = message.parse(JSON.parse(line));
      const id = String(parsed.id);
      if (parsed.method === undefined) {
        // The agent's and the editor's ids are counted apart: the latest question without an answer is meant.
        const by = asked.get(id) === "agent" ? "editor" : "agent";
        if (by === "editor") asked.set(id, "editor");
        return { by, message: parsed };
      }
      const by = agentsMethod.test(parsed.method) ? "agent" : "editor";
      if (parsed.id !== undefined) asked.set(id, by);
      return { by, message: parsed };
    });
}

const update = z.looseObject({
  sessionUpdate: z.string(),
  toolCallId: z.string().optional(),
  title: z.string().optional(),
  status: z.string().optional(),
  content: z.unknown().optional(),
});
const content = z.looseObject({
  type: z.string(),
  path: z.string().optional(),
  oldText: z.string().nullish(),
  newText: z.string().optional(),
});

/** What an agent told in one run, in the order of each call: the same for each run of the same work. */
export interface Told {
  readonly said: string;
  readonly calls: Readonly<Record<string, readonly string[]>>;
  readonly questions: readonly unknown[];
  readonly stop: unknown;
}

export function toldIn(sent: readonly Sent[]): Told {
  let said = "";
  const calls: Record<string, string[]> = {};
  const questions: unknown[] = [];
  let stop: unknown;
  for (const { by, message: each } of sent) {
    if (by === "editor") continue;
    if (each.method === "session/request_permission") questions.push(questionOf(each.params));
    const parsed = update.safeParse(each.params?.["update"]).data;
    if (parsed?.sessionUpdate === "agent_message_chunk") said += textOf(parsed.content);
    if (parsed?.toolCallId !== undefined) {
      const facts = (calls[parsed.toolCallId] ??= []);
      for (const fact of factsOf(parsed)) if (!facts.includes(fact)) facts.push(fact);
    }
    const result = z.looseObject({ stopReason: z.string() }).safeParse(each.result).data;
    if (result !== undefined) stop = result.stopReason;
  }
  return { said, calls, questions, stop };
}

function factsOf({ title, status, content: parts }: z.infer<typeof update>): readonly string[] {
  const diffs = z.array(content).safeParse(parts).data ?? [];
  return [
    ...(title === undefined ? [] : [title]),
    ...diffs.flatMap(({ type, oldText, newText }) =>
      type === "diff" ? [`${JSON.stringify(oldText ?? "")} becomes ${JSON.stringify(newText ?? "")}`] : [],
    ),
    // Output that comes in pieces may come in others.
    ...(status === undefined || status === "in_progress" ? [] : [status]),
  ];
}

function questionOf(params: unknown): unknown {
  const shape = z.looseObject({
    toolCall: z.looseObject({ title: z.string().optional() }),
    options: z.array(z.looseObject({ kind: z.string(), name: z.string() })),
  });
  const { toolCall, options } = shape.parse(params);
  return { title: toolCall.title, options: options.map(({ kind, name }) => `${kind}: ${name}`) };
}

function textOf(value: unknown): string {
  return z.looseObject({ text: z.string() }).safeParse(value).data?.text ?? "";
}

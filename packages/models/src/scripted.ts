import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import {
  asks,
  type Message,
  type Model,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  userSideText,
} from "@gennai/agent/model";
import { YamlError } from "@gennai/machine/config/strict-yaml";
import { breathe } from "./offline/event-loop.ts";
import { parseScript, type Script, type ScriptDeltas, type ScriptStep, type ScriptTurn } from "./script.ts";

/** A model that plays the script in a YAML file. Throws `ModelError` (`not_configured`) naming file and line. */
export async function loadScriptedModel(file: string): Promise<Model> {
  if (file === "") {
    throw new ModelError("not_configured", "The backend scripted needs a script.", {
      hint: "Name the YAML file with --model, e.g. `--backend scripted --model ./demo.yaml`.",
    });
  }
  try {
    return new ScriptedModel(parseScript(await readScript(file), file));
  } catch (cause) {
    if (cause instanceof ModelError) throw cause;
    if (cause instanceof YamlError) {
      throw new ModelError("not_configured", cause.message, { hint: "Correct the script.", cause });
    }
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    throw new ModelError("not_configured", `The script ${file} could not be read (${reason}).`, {
      hint: "Check the path given with --model.",
      cause,
    });
  }
}

/** Bytes. */
const maxScript = 16 * 1024 * 1024;

async function readScript(file: string): Promise<string> {
  // Without waiting for the writer of a named pipe, who may never come.
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = await handle.stat();
  const problem = !stat.isFile()
    ? "is not a regular file"
    : stat.size > maxScript
      ? "is larger than 16 MiB"
      : undefined;
  if (problem === undefined) return await handle.readFile("utf8");
  throw new ModelError("not_configured", `The script ${file} ${problem}.`, {
    hint: "Check the path given with --model.",
  });
}

/** Chunks between two looks at the rest of the world. */
const chunksPerBreath = 256;

/**
 * Stateless: user messages say which turn it is, the answers since the last one say which answer. Throws
 * `script_exhausted` when the script has nothing for that place.
 */
export class ScriptedModel implements Model {
  readonly id: string;
  readonly capabilities = { toolCalling: true, thinking: true, vision: true, structuredOutput: false };
  readonly maxContextTokens = 0;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
    this.id = `scripted/${script.file.replace(/^.*[\\/]/, "")}`;
  }

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent> {
    const place = placeIn(request.messages);
    const answer = turnFor(this.#script, place.userTexts)?.answers[place.answer];
    if (answer === undefined) {
      throw new ModelError(
        "script_exhausted",
        `The script ${this.#script.file} has no answer ${place.answer + 1} for user message ${place.userTexts.length}.`,
        { hint: "Add a turn, or a step after the last tool call." },
      );
    }
    let calls = 0;
    for (const step of answer) {
      signal.throwIfAborted();
      if ("tool" in step) {
        const id = `script-${place.userTexts.length}-${place.answer + 1}-${calls + 1}`;
        calls += 1;
        yield* toolCall(id, step.tool);
      } else yield* this.#play(step, request.enableThinking, signal);
    }
    yield { type: "finish", reason: calls > 0 ? "tool-calls" : "stop" };
  }

  async *#play(step: Exclude<ScriptStep, { tool: unknown }>, enableThinking: boolean, signal: AbortSignal) {
    if ("thinking" in step) {
      if (enableThinking) yield* streamed("thinking-delta", step.thinking, signal);
    } else if ("text" in step) yield* streamed("text-delta", step.text, signal);
    else if ("delay_ms" in step) await wait(step.delay_ms, undefined, { signal });
    else if ("usage" in step) {
      const { input_tokens: inputTokens, output_tokens: outputTokens } = step.usage;
      yield { type: "usage" as const, inputTokens, outputTokens };
    } else {
      const { code, message, hint, retryable } = step.error;
      throw new ModelError(code, message, {
        ...(hint === undefined ? {} : { hint }),
        ...(retryable === undefined ? {} : { retryable }),
      });
    }
  }
}

async function* streamed(
  type: "thinking-delta" | "text-delta",
  deltas: ScriptDeltas,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const count = Array.isArray(deltas) ? deltas.length : deltas.repeat;
  for (let index = 0; index < count; index += 1) {
    if (index % chunksPerBreath === chunksPerBreath - 1) await breathe(signal);
    const text = Array.isArray(deltas) ? deltas[index] : deltas.chunk;
    if (text !== undefined && text !== "") yield { type, text };
  }
}

function* toolCall(id: string, tool: Extract<ScriptStep, { tool: unknown }>["tool"]): Generator<ModelEvent> {
  const argumentsJson = tool.args_json ?? JSON.stringify(tool.args ?? {});
  yield { type: "tool-call-start", id, name: tool.name };
  yield { type: "tool-call-delta", id, text: argumentsJson };
  yield { type: "tool-call", id, name: tool.name, argumentsJson };
}

function placeIn(messages: readonly Message[]): { readonly userTexts: readonly string[]; readonly answer: number } {
  const userTexts: string[] = [];
  let answer = 0;
  for (const message of messages) {
    if (asks(message)) {
      userTexts.push(userSideText(message));
      answer = 0;
    } else if (message.role === "assistant") answer += 1;
  }
  return { userTexts, answer };
}

/** The first turn whose `match` takes the latest text; else the next turn without `match`, in order. */
function turnFor(script: Script, userTexts: readonly string[]): ScriptTurn | undefined {
  const matched = (text: string) => script.turns.find((turn) => turn.match?.test(text) === true);
  const latest = userTexts.at(-1);
  if (latest === undefined) return undefined;
  const byText = matched(latest);
  if (byText !== undefined) return byText;
  const unmatched = userTexts.filter((text) => matched(text) === undefined).length;
  return script.turns.filter((turn) => turn.match === undefined)[unmatched - 1];
}

import { answerUsage, argumentsText, frame, halves, type ModelWire } from "./model-answer.ts";

/** Anthropic's messages API, as its reference on streaming describes it (https://platform.claude.com/docs/en/build-with-claude/streaming). */
export const anthropicWire: ModelWire = {
  basePath: "/v1",
  *frames({ usage = answerUsage, thinking = [], signature, text = [], calls = [], finish, error }) {
    const send = (type: string, data: object) => frame({ type, ...data }, type);
    yield send("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-test",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: usage.inputTokens, output_tokens: 1 },
      },
    });
    yield send("ping", {});
    let index = 0;
    const block = function* (start: object, deltas: Iterable<object>) {
      yield send("content_block_start", { index, content_block: start });
      for (const delta of deltas) yield send("content_block_delta", { index, delta });
      yield send("content_block_stop", { index });
      index += 1;
    };
    if (thinking.length > 0) {
      yield* block({ type: "thinking", thinking: "", signature: "" }, [
        ...thinking.map((piece) => ({ type: "thinking_delta", thinking: piece })),
        { type: "signature_delta", signature: signature ?? "c2lnbmVkIHRoaW5raW5n" },
      ]);
    }
    if (text.length > 0) {
      yield* block(
        { type: "text", text: "" },
        text.map((piece) => ({ type: "text_delta", text: piece })),
      );
    }
    for (const call of calls) {
      yield* block(
        { type: "tool_use", id: call.id, name: call.name, input: {} },
        halves(argumentsText(call)).map((piece) => ({ type: "input_json_delta", partial_json: piece })),
      );
    }
    if (error !== undefined) yield send("error", { error });
    if (error !== undefined) return;
    yield send("message_delta", {
      delta: { stop_reason: finish ?? (calls.length > 0 ? "tool_use" : "end_turn"), stop_sequence: null },
      usage: { output_tokens: usage.outputTokens },
    });
    yield send("message_stop", {});
  },
  refusal: ({ status, message }) =>
    JSON.stringify({ type: "error", error: { type: status === 429 ? "rate_limit_error" : "api_error", message } }),
};

import { answerUsage, argumentsText, frame, halves, type ModelWire } from "./model-answer.ts";

/** Chat completions, as OpenAI-compatible servers and Ollama stream them (https://platform.openai.com/docs/api-reference/chat-streaming). */
export const chatWire: ModelWire = {
  basePath: "/v1",
  *frames({ usage = answerUsage, thinking = [], text = [], calls = [], finish, error }) {
    const chunk = (delta: object, finish: string | null = null) =>
      frame({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    yield chunk({ role: "assistant", content: "" });
    for (const piece of thinking) yield chunk({ reasoning_content: piece });
    for (const piece of text) yield chunk({ content: piece });
    for (const [index, call] of calls.entries()) {
      const [first = "", ...rest] = halves(argumentsText(call));
      yield chunk({
        tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: first } }],
      });
      for (const piece of rest) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
    if (error !== undefined) yield frame({ error });
    if (error !== undefined) return;
    yield chunk({}, finish ?? (calls.length > 0 ? "tool_calls" : "stop"));
    yield frame({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [],
      usage: {
        prompt_tokens: usage.inputTokens,
        completion_tokens: usage.outputTokens,
        total_tokens: usage.inputTokens + usage.outputTokens,
      },
    });
    yield frame("[DONE]");
  },
  refusal: ({ message }) => JSON.stringify({ error: { message, type: "server_error", param: null, code: null } }),
};

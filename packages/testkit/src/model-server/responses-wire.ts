import { answerUsage, argumentsText, frame, halves, type ModelWire } from "./model-answer.ts";

/** OpenAI's responses API, as its reference on streaming events describes it (https://platform.openai.com/docs/api-reference/responses-streaming). */
export const responsesWire: ModelWire = {
  basePath: "/v1",
  *frames({ usage = answerUsage, thinking = [], signature, text = [], calls = [], finish, error }) {
    let sequence = 0;
    const send = (type: string, data: object) => frame({ type, sequence_number: sequence++, ...data }, type);
    const response = {
      id: "resp_1",
      object: "response",
      created_at: 1,
      model: "gpt-test",
      error: null,
      incomplete_details: null,
      output: [],
      usage: null,
    };
    yield send("response.created", { response: { ...response, status: "in_progress" } });
    yield send("response.in_progress", { response: { ...response, status: "in_progress" } });
    let at = 0;
    if (thinking.length > 0) {
      const place = { output_index: at, item_id: "rs_1", summary_index: 0 };
      const item = { id: "rs_1", type: "reasoning", encrypted_content: signature ?? "ZW5jcnlwdGVk" };
      yield send("response.output_item.added", { output_index: at, item: { ...item, summary: [] } });
      yield send("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } });
      for (const delta of thinking) yield send("response.reasoning_summary_text.delta", { ...place, delta });
      const part = { type: "summary_text", text: thinking.join("") };
      yield send("response.reasoning_summary_text.done", { ...place, text: part.text });
      yield send("response.reasoning_summary_part.done", { ...place, part });
      yield send("response.output_item.done", { output_index: at, item: { ...item, summary: [part] } });
      at += 1;
    }
    if (text.length > 0) {
      const place = { output_index: at, item_id: "msg_1", content_index: 0 };
      const item = { id: "msg_1", type: "message", role: "assistant", status: "in_progress" };
      yield send("response.output_item.added", { output_index: at, item: { ...item, content: [] } });
      const empty = { type: "output_text", text: "", annotations: [] };
      yield send("response.content_part.added", { ...place, part: empty });
      for (const delta of text) yield send("response.output_text.delta", { ...place, delta, logprobs: [] });
      const part = { ...empty, text: text.join("") };
      yield send("response.output_text.done", { ...place, text: part.text, logprobs: [] });
      yield send("response.content_part.done", { ...place, part });
      yield send("response.output_item.done", {
        output_index: at,
        item: { ...item, status: "completed", content: [part] },
      });
      at += 1;
    }
    for (const call of calls) {
      if (call.input !== undefined) {
        const { id: call_id, name, input } = call;
        const item = { id: `ctc_${at}`, type: "custom_tool_call", call_id, name, status: "completed", input };
        yield send("response.output_item.added", { output_index: at, item });
        yield send("response.output_item.done", { output_index: at, item });
        at += 1;
        continue;
      }
      const id = `fc_${at}`;
      const item = { id, type: "function_call", call_id: call.id, name: call.name };
      const whole = argumentsText(call);
      yield send("response.output_item.added", {
        output_index: at,
        item: { ...item, status: "in_progress", arguments: "" },
      });
      for (const delta of halves(whole)) {
        yield send("response.function_call_arguments.delta", { output_index: at, item_id: id, delta });
      }
      yield send("response.function_call_arguments.done", { output_index: at, item_id: id, arguments: whole });
      yield send("response.output_item.done", {
        output_index: at,
        item: { ...item, status: "completed", arguments: whole },
      });
      at += 1;
    }
    if (error !== undefined) {
      yield send("response.failed", { response: { ...response, status: "failed", error } });
      return;
    }
    const incomplete = finish !== undefined;
    yield send(incomplete ? "response.incomplete" : "response.completed", {
      response: {
        ...response,
        status: incomplete ? "incomplete" : "completed",
        incomplete_details: incomplete ? { reason: finish } : null,
        usage: {
          input_tokens: usage.inputTokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: usage.outputTokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.inputTokens + usage.outputTokens,
        },
      },
    });
  },
  refusal: ({ status, message }) =>
    JSON.stringify({
      error: { message, type: status === 429 ? "rate_limit_exceeded" : "server_error", param: null, code: null },
    }),
};

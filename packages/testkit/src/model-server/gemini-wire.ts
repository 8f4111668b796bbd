import { answerUsage, frame, type ModelWire } from "./model-answer.ts";

/** Gemini's `streamGenerateContent?alt=sse`, as its reference describes it (https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent). Calls come whole. */
export const geminiWire: ModelWire = {
  basePath: "/v1beta",
  *frames({ usage = answerUsage, thinking = [], signature, text = [], calls = [], finish, error }) {
    const chunk = (parts: readonly object[], finishReason?: string) =>
      frame({
        candidates: [
          { content: { role: "model", parts }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) },
        ],
        usageMetadata: {
          promptTokenCount: usage.inputTokens,
          candidatesTokenCount: usage.outputTokens,
          totalTokenCount: usage.inputTokens + usage.outputTokens,
        },
        modelVersion: "gemini-test",
        responseId: "r1",
      });
    for (const piece of thinking) yield chunk([{ text: piece, thought: true }]);
    for (const piece of text) yield chunk([{ text: piece }]);
    for (const call of calls) {
      yield chunk([
        {
          functionCall: { id: call.id, name: call.name, args: call.arguments },
          thoughtSignature: signature ?? "c2lnbmVkIHRoaW5raW5n",
        },
      ]);
    }
    if (error !== undefined) yield frame({ error });
    if (error !== undefined) return;
    yield chunk([{ text: "" }], finish ?? "STOP");
  },
  refusal: ({ status, message }) =>
    JSON.stringify({
      error: { code: status, message, status: status === 429 ? "RESOURCE_EXHAUSTED" : "UNAVAILABLE" },
    }),
};

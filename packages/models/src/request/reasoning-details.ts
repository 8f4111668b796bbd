import type { JSONObject, LanguageModelV4Prompt } from "@ai-sdk/provider";

/**
 * A piece of thinking with what its provider signed. OpenRouter wants all of an answer back in their order, and Gemini refuses a call
 * without them: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens#preserving-reasoning
 */
export type ReasoningDetail = JSONObject;

/** Where a detail has its text; others are encrypted. */
const texts = ["text", "summary"] as const;
const place = "openrouter";

/** The text, which is kept apart as all thinking is, and the rest with a place for it. */
export function withoutText(detail: ReasoningDetail): { readonly text: string; readonly rest: ReasoningDetail } {
  for (const name of texts) {
    const text = detail[name];
    if (typeof text === "string") return { text, rest: { ...detail, [name]: "" } };
  }
  return { text: "", rest: detail };
}

/** The detail with the next piece of it; undefined where that begins another one. */
export function continued(begun: ReasoningDetail, next: ReasoningDetail): ReasoningDetail | undefined {
  const differs = (["type", "index", "id"] as const).some((name) => {
    const [one, other] = [begun[name] ?? undefined, next[name] ?? undefined];
    return one !== undefined && other !== undefined && one !== other;
  });
  if (differs || "data" in next) return undefined;
  const said = Object.entries(next).filter(([, value]) => value !== null && value !== undefined);
  return { ...begun, ...Object.fromEntries(said) };
}

/** For the block of thinking that it is, and back. */
export function keptDetail(rest: ReasoningDetail) {
  return { [place]: rest };
}

/** The prompt with what was kept where OpenRouter looks for it, in place of plain thinking. */
export function withDetails(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role !== "assistant") return message;
    const details: ReasoningDetail[] = [];
    const content = message.content.filter((part) => {
      const rest = part.type === "reasoning" ? part.providerOptions?.[place] : undefined;
      if (part.type !== "reasoning" || rest === undefined) return true;
      const name = texts.find((each) => each in rest);
      details.push(name === undefined ? rest : { ...rest, [name]: part.text });
      return false;
    });
    if (details.length === 0) return message;
    return { ...message, content, providerOptions: { openaiCompatible: { reasoning_details: details } } };
  });
}

import { parsedJson, recordOf } from "@gennai/protocol/json-value";

/** Where the forms of servers and of gateways before them have their words, in the order in which one is preferred. */
const places = [
  "error",
  "message",
  "Message",
  "detail",
  "errors",
  "msg",
  "error_description",
  "reason",
  "title",
] as const;
/** Levels of objects and of JSON inside of texts. */
const deepest = 8;

/**
 * Why a request is refused or an answer broken off, in the server's words; empty where it has none. Takes the forms of OpenAI and Anthropic,
 * Google's list of one error (https://ai.google.dev/gemini-api/docs/openai), FastAPI's list of fields
 * (https://fastapi.tiangolo.com/tutorial/handling-errors/), and OpenRouter's, which has the upstream provider's own answer in `metadata.raw`
 * (https://openrouter.ai/docs/api/reference/errors-and-debugging).
 */
export function toldReason(told: unknown, depth = 0): string {
  if (depth > deepest) return "";
  if (typeof told === "string") {
    return (/^\s*[{[]/.test(told) && toldReason(parsedJson(told), depth + 1)) || told;
  }
  if (Array.isArray(told))
    return [...new Set(told.map((each) => toldReason(each, depth + 1)))].filter(Boolean).join("; ");
  if (typeof told !== "object" || told === null) return "";
  const words = places.map((name) => toldReason(Reflect.get(told, name), depth + 1)).find((each) => each !== "") ?? "";
  const raw = toldReason(recordOf(Reflect.get(told, "metadata"))["raw"], depth + 1);
  const field: unknown = Reflect.get(told, "loc");
  const where = Array.isArray(field) && words !== "" ? `${field.join(".")}: ` : "";
  return `${where}${[words, raw].filter(Boolean).join(": ")}`;
}

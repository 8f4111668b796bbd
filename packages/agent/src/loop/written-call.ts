/** An answer is looked at from here to its end: a model that calls stops behind its call. */
const most = 20_000;

/** Marks of models' own formats, at the beginning of a line: Qwen and Hermes, Llama, Claude, Mistral, ReAct. */
const marks =
  /^[ \t]*(?:<tool_call>|<function[_=]|<function_call|<invoke name=|\[TOOL_CALLS\]|<\|tool_call|<\|python_tag\|>|Action Input:)/m;

/** A call as JSON, at the end of an answer but for marks that close it. */
const json =
  /"(?:(?:name|function)"\s*:\s*"([^"\n]{1,100})"\s*,\s*"(?:arguments|parameters|args|input)"|(?:tool|tool_name)"\s*:\s*"([^"\n]{1,100})"\s*,\s*"\w{1,50}")\s*:/g;
/** A tag, or a function, of that name at the beginning of a line. */
const named = /^[ \t]*(?:<(\w{1,50})>\s*<\w|(\w{1,50})\(\w{1,50}\s?=)/gm;
const closing = /(?:```|<\/\w{1,20}>|<\|\w{1,20}\|>|\]|\s){1,20}$/;

/**
 * Whether an answer holds a call written as text, which runs nothing: of a model, or a server, without tool calling. Code in fences
 * counts only where it is a call of one of these tools, and the last that was said.
 */
export function writesCall(answer: string, tools: readonly string[]): boolean {
  if (tools.length === 0) return false;
  const text = answer.slice(-most);
  const known = new Set(tools.map((name) => name.toLowerCase()));
  const names = (found: Iterable<RegExpExecArray>) =>
    [...found].some(([, one, other = ""]) => known.has((one ?? other).toLowerCase()));
  const outside = text.replaceAll(/^```[^]*?^```/gm, "");
  if (marks.test(outside) || names(outside.matchAll(named))) return true;
  return text.replace(closing, "").endsWith("}") && names(text.matchAll(json));
}

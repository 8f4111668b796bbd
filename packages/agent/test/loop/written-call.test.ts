import { expect, test } from "vitest";
import { writesCall } from "#loop/written-call";

const tools = ["Bash", "Read"];
const call = '{"name": "Bash", "arguments": {"command": "ls"}}';

// Formats: https://docs.vllm.ai/en/latest/features/tool_calling.html
test.each([
  ["JSON", call],
  ["JSON behind words", `I look at the files.\n\n${call}`],
  ["JSON in a fence", `Let me see.\n\`\`\`json\n${call}\n\`\`\`\n`],
  ["a list of JSON", `[${call}]`],
  ["flat JSON", '{"tool": "Read", "file_path": "a.txt"}'],
  ["parameters, and another case", '{"name": "read", "parameters": {"file_path": "a"}}'],
  ["Hermes and Qwen", `<tool_call>\n${call}\n</tool_call>`],
  ["a call of a tool that is not there", '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'],
  ["Qwen's coder and Llama", "I look.\n<function=Bash>\n<parameter=command>ls</parameter>\n</function>"],
  ["one that does not end", '<tool_call>{"name": "Ba'],
  ["Mistral", `[TOOL_CALLS][${call}]`],
  ["OpenAI's own", `{"type": "function", "function": ${call}}`],
  ["a tag of its name", "I look.\n<Read>\n<file_path>a.txt</file_path>\n</Read>"],
  ["Python", 'Read(file_path="a.txt")'],
  ["ReAct", 'Action: Bash\nAction Input: {"command": "ls"}'],
])("%s is a call", (_what, text) => {
  expect(writesCall(text, tools)).toBe(true);
  expect(writesCall(text, [])).toBe(false);
});

test.each([
  ["words", "All tests pass."],
  ["what a call looks like, and more words", `A call is \`${call}\`. It runs \`ls\`.`],
  ["a format that is spoken of", "Hermes puts calls in `<tool_call>` tags."],
  ["code that holds it", "Parse it so:\n```ts\n<tool_call>\n```\nThat is all."],
  ["JSON of something else", '{"name": "gennai", "version": "1.0.0"}'],
  ["a page of a manual", "read(2) is a call of the system."],
  ["JSON that says which tool", '{"tool": "prettier", "width": 80}'],
  ["JSON of another name", '{"name": "weather", "arguments": {}}'],
  ["much of nothing", " \n".repeat(1_000_000)],
])("%s is none", (_what, text) => {
  expect(writesCall(text, tools)).toBe(false);
});

// An MCP server over standard input and output: JSON-RPC, one message a line. One tool, which computes a contrast.
import { createInterface } from "node:readline";

const tool = {
  name: "contrast",
  description: "The contrast of two colours by WCAG 2, from 1 (none) to 21 (black on white).",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" }, background: { type: "string" } },
    required: ["text", "background"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

/** @type {Readonly<Record<string, (params: any) => unknown>>} */
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "contrast", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": ({ arguments: { text, background } }) => {
    const [high = 0, low = 0] = [luminance(text), luminance(background)].sort((one, other) => other - one);
    return { content: [{ type: "text", text: `${((high + 0.05) / (low + 0.05)).toFixed(1)} : 1` }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // A notification wants no answer.
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer(method, params) })}\n`);
}

/** @param {string} method @param {unknown} params */
function answer(method, params) {
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (run === undefined) return { error: { code: -32601, message: `There is no ${method}.` } };
  try {
    return { result: run(params) };
  } catch (error) {
    return { result: { isError: true, content: [{ type: "text", text: String(error) }] } };
  }
}

/** Relative luminance by WCAG 2, 0 to 1. @param {string} colour `#rrggbb` */
function luminance(colour) {
  if (!/^#[0-9a-f]{6}$/i.test(colour)) throw new Error(`${colour} is not written as #rrggbb`);
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

import { estimateText } from "@gennai/agent/conversation/token-estimate";
import type { BuiltInTool, Tool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { z } from "zod";

/** A server with more tools, or more tokens of them, has them told of on request. */
const maxTools = 20;
const maxTokens = 4_000;
/** Characters of the lines that name such tools, of all servers. */
const maxLines = 5_000;
/** Words of a description in a line are worth it from this many characters on. */
const minWords = 8;
const maxFound = 10;

/** The tools of one server, marked to be told of on request where they are many. */
export function onRequestIfMany(tools: readonly Tool[]): readonly Tool[] {
  const told = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const isMany = tools.length > maxTools || estimateText(JSON.stringify(told)) > maxTokens;
  return isMany ? tools.map((tool) => ({ ...tool, onRequest: true as const })) : tools;
}

const parameters = z
  .strictObject({
    names: z.array(z.string().max(200)).max(20).optional().describe("Names in full, as listed."),
    search: z.string().max(200).optional().describe("Words of what a tool should do: lists those that fit."),
  })
  .refine(({ names = [], search }) => names.length > 0 !== (search !== undefined), "Give either names or search.");

/** Has the model told of tools that are too many to be told of at once; undefined if there are none. */
export function loadToolsTool(tools: readonly Tool[]): BuiltInTool<z.infer<typeof parameters>> | undefined {
  const many = new Map(tools.filter(({ onRequest }) => onRequest).map((tool) => [tool.name, tool]));
  if (many.size === 0) return undefined;
  const statement = ({ names = [], search }: z.infer<typeof parameters>) =>
    search === undefined ? `Load ${names.join(", ")}` : `Look for tools: ${search}`;
  return {
    name: "LoadTools",
    description: `Makes tools callable that are only named here, by their names in full, from your next answer on. Load all that you need at once.\n${lines([...many.keys()].toSorted(), many)}`,
    parameters,
    access: "read",

    async analyse(args) {
      const missing = args.names?.find((name) => !many.has(name));
      if (missing !== undefined) {
        const near = found(missing.replaceAll("_", " "), many).map(({ name }) => name);
        throw new ToolFailure("unknown_tool", `There is no tool ${JSON.stringify(missing)} to load.`, {
          hint: near.length > 0 ? `Near it: ${near.join(", ")}.` : "Search for it.",
        });
      }
      return { statement: statement(args), effects: [{ type: "session" }] };
    },

    async execute({ names = [], search }) {
      if (search === undefined) return { output: `Loaded: ${names.join(", ")}. Call them as they are described now.` };
      const fitting = found(search, many).map(({ name, description }) => `${name}: ${description.slice(0, 300)}`);
      return { output: fitting.length > 0 ? fitting.join("\n") : "No tool fits these words." };
    },
  };
}

/** Those with most of the words, by name and description. */
function found(search: string, tools: ReadonlyMap<string, Tool>): readonly Tool[] {
  const words = search
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
  return [...tools.values()]
    .map((tool) => {
      const [name, description] = [tool.name.toLowerCase(), tool.description.toLowerCase()];
      const fit = words.map((word) => (name.includes(word) ? 2 : description.includes(word) ? 1 : 0));
      return { tool, fit: fit.reduce<number>((sum, one) => sum + one, 0) };
    })
    .filter(({ fit }) => fit > 0)
    .toSorted((one, other) => other.fit - one.fit || (one.tool.name < other.tool.name ? -1 : 1))
    .slice(0, maxFound)
    .map(({ tool }) => tool);
}

/** One line for each tool, grouped by servers, with as much of the descriptions as there is room for. */
function lines(names: readonly string[], tools: ReadonlyMap<string, Tool>): string {
  const groups = Map.groupBy(names, (name) => `${name.split("__").slice(0, 2).join("__")}__`);
  const taken = [...groups].reduce(
    (sum, [prefix, own]) =>
      sum + prefix.length + 12 + own.reduce((all, name) => all + name.length - prefix.length + 1, 0),
    0,
  );
  const words = Math.floor((maxLines - taken) / names.length) - 2;
  const named: string[] = [];
  let size = 0;
  let left = 0;
  for (const [prefix, own] of groups) {
    named.push(`${prefix}… of:`);
    for (const name of own) {
      const said = words < minWords ? "" : `: ${saidOf(tools.get(name)?.description ?? "").slice(0, words)}`;
      const line = `${name.slice(prefix.length)}${said}`;
      size += line.length + 1;
      if (size > maxLines) left += 1;
      else named.push(line.trimEnd());
    }
  }
  if (left > 0) named.push(`And ${left} more: search for them.`);
  return named.join("\n");
}

/** A description on one line, without the server that stands in front of each. */
function saidOf(description: string): string {
  return description.replace(/^\[MCP server [^\]]*\] /, "").replaceAll(/\s+/g, " ");
}

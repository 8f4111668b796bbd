import { canMention, writtenMention } from "@gennai/client/session/text/mentions";
import type { ReplControl } from "../control/repl-control.ts";

/** In order of preference: the first one is the editor's own. */
const uriTypes = ["application/vnd.code.uri-list", "text/uri-list"] as const;

/**
 * URIs of what is dragged out of the editor's explorer; undefined: something else. While it is being dragged the URIs are hidden,
 * and the list is empty.
 */
export function droppedUris(control: ReplControl, data: DataTransfer | null): readonly string[] | undefined {
  if (control.host.namesOfDropped === undefined || data === null) return undefined;
  const type = uriTypes.find((each) => data.types.includes(each));
  if (type === undefined) return undefined;
  return data
    .getData(type)
    .split(/\r?\n/)
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** Mentions what was dropped. Resolves with messages for the user. */
export async function mentionDropped(control: ReplControl, uris: readonly string[]): Promise<readonly string[]> {
  const names = (await control.host.namesOfDropped?.(uris).catch(() => [])) ?? [];
  const mentioned = names.filter(canMention);
  if (mentioned.length > 0) control.turns.addMentions(mentioned.map((name) => writtenMention(name)));
  const left = uris.length - mentioned.length;
  return left === 0 ? [] : [`Only files of this workspace can be added: ${left} left out.`];
}

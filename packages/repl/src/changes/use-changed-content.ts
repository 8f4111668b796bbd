import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { useMemo } from "preact/hooks";
import { useChat } from "../chat/chat-context.ts";
import type { ChangedContent } from "../control/session/change-contents.ts";

const loading: ChangedContent = { type: "loading" };

/** Both sides of a changed file, as soon as they are loaded. @param wanted false to load nothing now */
export function useChangedContent(file: AppliedFile, wanted: boolean): ChangedContent {
  const chat = useChat();
  const changes = chat.changes ?? chat.control.stores.value.changes;
  const content = useMemo(
    () => (wanted ? changes?.of(file) : undefined),
    [changes, wanted, file.beforeSha256, file.afterSha256],
  );
  return content?.value ?? loading;
}

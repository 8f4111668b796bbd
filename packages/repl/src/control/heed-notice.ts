import type { HomeNotice } from "@gennai/client/home/repl-home";
import type { ReplControl } from "./repl-control.ts";
import { choiceOf } from "./settings-choice.ts";

/** Does what the home asks of the app. */
export function heedNotice(control: ReplControl, notice: HomeNotice): void {
  switch (notice.type) {
    case "show-session":
      if (notice.sessionId === undefined) control.newSession();
      else if (notice.sessionId !== control.followed.value?.session.sessionId) void control.switchTo(notice.sessionId);
      return;
    case "prompt":
      control.panel.value = "chat";
      if (notice.send) control.turns.send(notice.text);
      else control.turns.addToDraft(notice.text);
      return;
    case "show-panel":
      control.panel.value = notice.panel;
      return;
    case "settings":
      control.showThinking.value = notice.settings.showThinking;
      control.scenario.value = notice.settings.scenario;
      control.choice.value = choiceOf(notice.settings, control.home.launch.workspace);
      return;
    case "server":
      control.serverNotice.value = notice.state === "connected" ? undefined : notice.message;
      if (notice.state === "connected") control.followed.value?.retry();
      return;
  }
}

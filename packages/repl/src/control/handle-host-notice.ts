import type { HostNotice, ReplSettings } from "@gennai/client/host/host-messages";
import type { ReplControl } from "./repl-control.ts";
import { choiceOf } from "./settings-choice.ts";

/** Does what the host asks of the app. */
export function handleHostNotice(control: ReplControl, notice: HostNotice): void {
  switch (notice.type) {
    case "show-session":
      if (notice.sessionId === undefined) control.newSession();
      else if (notice.sessionId !== control.followed.value?.session.sessionId)
        void control.sessions.switchTo(notice.sessionId);
      return;
    case "show-call":
      void control.opened().then(() => control.showCall(notice));
      return;
    case "prompt":
      control.panel.value = "chat";
      if (notice.send) void control.opened().then(() => control.turns.send(notice.text));
      else control.turns.addToDraft(notice.text);
      return;
    case "mention":
      control.panel.value = "chat";
      control.turns.addMentions(notice.mentions);
      return;
    case "attach":
      control.panel.value = "chat";
      control.turns.attach(notice.title, notice.text);
      return;
    case "show-panel":
      if (notice.proposalId !== undefined) control.reviewed.value = notice.proposalId;
      control.panel.value = notice.panel;
      return;
    case "choose-model":
      control.models.open();
      return;
    case "settings":
      useSettings(control, notice.settings);
      return;
    case "review":
      control.reviews.hear(notice.state);
      return;
    case "role":
      control.watching.value = notice.watching;
      return;
    case "window":
      control.windowFocus.value = notice.focused;
      return;
    case "server":
      control.serverNotice.value =
        notice.state === "connected" ? undefined : { message: notice.message, steps: notice.steps };
      if (notice.state === "connected") control.followed.value?.retry();
      return;
  }
}

/** What a person chose here stays, unless that very setting was changed. */
function useSettings(control: ReplControl, settings: ReplSettings): void {
  const before = control.hostSettings;
  control.hostSettings = settings;
  if (settings.showThinking !== before.showThinking) control.showThinking.value = settings.showThinking;
  if (settings.scenario !== before.scenario) control.scenario.value = settings.scenario;
  const { backend: _backend, model: _model, baseUrl: _url, handedKeyOnly: _key, ...others } = control.choice.value;
  const { editingMode = settings.editingMode } = settings.editingMode === before.editingMode ? others : {};
  control.choice.value = { ...others, ...choiceOf(settings, control.host.launch.workspace), editingMode };
}

import { useEffect } from "preact/hooks";
import { ChatView } from "./chat/items/chat-view.tsx";
import { StatusLine } from "./chat/status-line.tsx";
import { BackgroundStrip } from "./command/background-strip.tsx";
import { Composer } from "./composer/composer.tsx";
import { WindowFocusProvider } from "./confirmation/window-focus.ts";
import type { ReplControl } from "./control/repl-control.ts";
import { Banners } from "./shell/banners.tsx";
import { Header, More, panelLabel, placeOf } from "./shell/header.tsx";
import { Panel } from "./shell/panels.tsx";
import { QuestionTray } from "./shell/question-tray.tsx";
import { Welcome } from "./shell/welcome.tsx";

/** The root component of the web UI. */
export function App({ control }: { readonly control: ReplControl }) {
  const panel = control.panel.value;
  const { background } = control.stores.value;
  const title = control.title.value.slice(0, 60);
  useEffect(() => {
    if (control.host.kind === "page") document.title = title === "" ? "Gennai" : `${title} – Gennai`;
  }, [control, title]);
  return (
    <main class={`app app-${control.host.kind}`}>
      <h1 class="spoken">Gennai</h1>
      <Header control={control} />
      <Banners control={control} />
      <div id="panel" class={`main main-${panel}`} role="tabpanel" aria-labelledby={`tab-${placeOf(panel)}`}>
        <h2 class={placeOf(panel) === panel ? "spoken" : "panel-title"}>{panelLabel(panel)}</h2>
        {panel === "chat" ? (
          <Chat control={control} />
        ) : panel === "more" ? (
          <More control={control} />
        ) : (
          <Panel control={control} />
        )}
      </div>
      <WindowFocusProvider value={control.windowFocus}>
        <QuestionTray control={control} />
      </WindowFocusProvider>
      {panel === "chat" && (
        <footer class="foot">
          {background !== undefined && <BackgroundStrip store={background} />}
          <StatusLine control={control} />
          <Composer control={control} />
        </footer>
      )}
      <div class="spoken" aria-live="polite">
        {control.announcer.sentence.value}
      </div>
    </main>
  );
}

function Chat({ control }: { readonly control: ReplControl }) {
  const view = control.followed.value?.view.value;
  const started = view !== undefined && view.count.value > 0;
  if (started || control.turns.pending.value !== undefined) {
    return <ChatView key={control.followed.value?.session.sessionId ?? ""} control={control} view={view} />;
  }
  return <Welcome control={control} />;
}

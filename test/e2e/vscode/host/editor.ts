import { bridgeConformance } from "../../../conformance/bridge/bridge-conformance.ts";
import { editorScene } from "./editor-scene.ts";
import { hostTest } from "./host-test.ts";
import "./editor-buffers.ts";
import "./editor-terminal.ts";
import "./editor-git.ts";

for (const { name, run } of bridgeConformance(["readFile", "applyChanges", "runCommand", "confirm"], editorScene)) {
  hostTest(name, run);
}

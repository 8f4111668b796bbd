import { afterAll } from "vitest";
import { closeChromium } from "./chromium.ts";

afterAll(closeChromium);

import { testStories } from "./story-tests.ts";

testStories(1);

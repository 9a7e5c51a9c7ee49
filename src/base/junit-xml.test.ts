import { expect, test } from "vitest";
import { junitXml } from "./junit-xml.ts";

test("counts what it is given and writes it so that any text is legal XML", () => {
  const xml = junitXml(
    "all",
    [
      {
        name: "one",
        file: "one.yaml",
        durationMs: 1_234,
        properties: { mode: "live", model: undefined },
        tests: [
          { name: "good", classname: "one" },
          {
            name: 'a "<&>"',
            classname: "one",
            file: "one.yaml",
            line: 3,
            problem: { kind: "failure", type: "t", message: "two\nlines\u0000", text: "]]> & more" },
          },
        ],
      },
      {
        name: "two",
        tests: [
          { name: "broken", classname: "two", problem: { kind: "error", message: "gone" } },
          { name: "left", classname: "two", problem: { kind: "skipped", message: "not here" } },
        ],
      },
    ],
    2_000,
  );
  expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="all" tests="4" failures="1" errors="1" skipped="1" time="2.000">
  <testsuite name="one" file="one.yaml" tests="2" failures="1" errors="0" skipped="0" time="1.234">
    <properties>
      <property name="mode" value="live"/>
    </properties>
    <testcase name="good" classname="one"/>
    <testcase name="a &quot;&lt;&amp;&gt;&quot;" classname="one" file="one.yaml" line="3">
      <failure type="t" message="two&#10;lines">]]&gt; &amp; more</failure>
    </testcase>
  </testsuite>
  <testsuite name="two" tests="2" failures="0" errors="1" skipped="1">
    <testcase name="broken" classname="two">
      <error message="gone"/>
    </testcase>
    <testcase name="left" classname="two">
      <skipped message="not here"/>
    </testcase>
  </testsuite>
</testsuites>
`);
});

/** `template`: text with holes, in a safe part of Go's text/template. */
import { dictOf, textOf } from "../arguments.ts";
import { jsonData } from "../json-data.ts";
import { parseTemplate } from "../template-parser.ts";
import { renderTemplate, templateFunctions } from "../template-renderer.ts";
import { everyone, module, row } from "./definition.ts";

export const template = module("template", "Text templates", everyone, [
  row(
    "render(tmpl, vars)",
    "string",
    "The template with the values of `vars`: `{{.a.b}}`, `if`/`else`/`end`, `range`, `with`, `$x` of a range, comments, trim markers " +
      `and pipes to ${Object.keys(templateFunctions)
        .map((name) => `\`${name}\``)
        .join(", ")}. A missing key shows as \`<no value>\`.`,
  ).runs((args, _call, host) => {
    const text = textOf(args, "tmpl");
    host.charge(text.length);
    const rendered = renderTemplate(parseTemplate(text), jsonData(dictOf(args, "vars")));
    host.charge(rendered.length / 16);
    return rendered;
  }),
]);

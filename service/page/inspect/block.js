// One block: what goes in, what each sublayer adds to the residual stream, what comes out.

import { html, label } from "./draw.js";
import { smallMultiple } from "./heatmap.js";
import { state, watch } from "./store.js";
import { ANCHORS, codeLink, docLink } from "./links.js";
import { number, percent, say } from "../words.js";

const place = document.getElementById("block");

watch(["answer", "zoom", "step", "theme"], draw);

function draw() {
  const { answer, zoom } = state;
  if (!answer || zoom.level !== "block") return;
  const stack = answer[zoom.part];
  const layer = stack.layers[Math.min(zoom.layer, stack.layers.length - 1)];
  const entering = zoom.layer === 0 ? stack.embedded : stack.layers[zoom.layer - 1].written.at(-1).norms;
  const pieces = zoom.part === "encoder" ? answer.source.pieces : answer.target.pieces;
  const shown = zoom.part === "encoder" ? pieces.length : Math.min(state.step + 1, pieces.length);
  const most = Math.max(...entering, ...layer.written.flatMap((written) => [...written.norms, ...written.added]));
  const stations = layer.written.map((written, place) => {
    const before = place === 0 ? entering : layer.written[place - 1].norms;
    return station(written, before, pieces, shown, most);
  });
  place.replaceChildren(
    html("h2", {}, say(`${zoom.part}.layer`, zoom.layer + 1)),
    html("p", { className: "lead" }, say("block.lead")),
    html("ol", { className: "stations" }, ...stations),
  );
  if (zoom.part === "decoder") place.append(lens(zoom.layer, shown));
}

/** What the sublayer does, as pictures of its heads where it has any, and how much it adds at each piece. */
function station(written, before, pieces, shown, most) {
  const { zoom, answer } = state;
  const part = { attention: zoom.part, "cross-attention": "cross" }[written.sublayer];
  const key = part ?? "feed";
  const item = html("li", { className: "station" },
    html("h3", {}, say(`${key}.title`)),
    html("p", { className: "quiet" }, say(`${key}.short`, answer.shape.heads, answer.shape.feed_forward_width)),
  );
  if (part) {
    const heads = Array.from({ length: answer.shape.heads }, (_, head) => smallMultiple(part, zoom.layer, head));
    item.append(html("div", { className: "multiples" }, ...heads));
  }
  item.append(
    html("p", { className: "quiet adds" }, say("block.adds")),
    bars(written, before, pieces, shown, most),
    html("p", { className: "links" }, docLink(ANCHORS[key]), codeLink(part ? "model/attention.py" : "model/feed_forward.py", part ? "attention_weights" : "ReluFeedForward")),
  );
  return item;
}

function bars(written, before, pieces, shown, most) {
  const list = html("ul", { className: "bars" });
  for (let i = 0; i < shown; i += 1) {
    const [stream, added] = [html("span", { className: "bar stream" }), html("span", { className: "bar added" })];
    stream.style.inlineSize = `${(100 * before[i]) / most}%`;
    added.style.inlineSize = `${(100 * written.added[i]) / most}%`;
    list.append(html("li", { title: say("block.norms", number(before[i], 1), number(written.added[i], 1)) },
      html("span", { className: "name" }, label(pieces[i], i)), html("span", { className: "track" }, stream, added), html("span", { className: "value" }, `+${number(written.added[i], 1)}`)));
  }
  return list;
}

/** The "logit lens": what the decoder would say if it stopped after this layer. */
function lens(layer, shown) {
  const { answer } = state;
  const row = (one, t) => html("li", { className: answer.choices[t].chosen.id === one.id ? "agrees" : "" },
    html("span", {}, label(one.piece, t)), html("small", {}, percent(one.probability)));
  return html("section", { className: "lens" },
    html("h3", {}, say("lens.title")), html("p", { className: "quiet" }, say("lens.short")),
    html("ol", {}, ...answer.lens[layer].slice(0, Math.min(shown, answer.choices.length)).map(row)),
    html("p", { className: "links" }, docLink("lens"), codeLink("model/inspection.py", "_read")));
}

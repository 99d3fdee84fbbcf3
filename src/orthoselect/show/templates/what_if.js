
// The section "What if": greedy selection from the columns that the page carries, by the rules of
// select(). A feature is its place among those carried; what is left of a column is kept as it is,
// not by its inner products, so that no digits are lost where columns are nearly dependent.
{
  const section = document.getElementById("what-if");
  const MUCH_LEFT = 0.1; // of the squared norm; with less a column is orthogonalized once more
  const MOST_REPLACED = 40; // steps for which replacements are worked out

  // Numbers -------------------------------------------------------------------------------------

  const floats = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
  const dot = (a, b) => {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
    return sum;
  };
  const subtract = (w, share, q) => {
    for (let i = 0; i < w.length; i++) w[i] -= share * q[i];
  };

  const unpack = (carried) => {
    const { columns: n, rank, rows, adjust, tolerances } = carried;
    const triangle = floats(carried.triangle), S = floats(carried.response);
    const X = range(0, n).map((j) => {
      const x = new Float64Array(n);
      x.set(triangle.subarray((j * (j + 1)) / 2, ((j + 1) * (j + 2)) / 2));
      return x;
    });
    let end = 0;
    const features = carried.features.map((one) => ({ ...one, J: range(end, (end += one.columns)) }));
    return { n, m: rank, rows, adjust, ...tolerances, X, S, features, sizes: floats(carried.roundings) };
  };

  // A state: Q are the orthonormal directions taken, T their triangular factor by columns, `sizes`
  // one rounding of each of their columns, `reaches` what those may do to each direction; W is what
  // is left of every column, H its shares along Q.
  const start = (model) => ({
    model, Q: [], T: [], sizes: [], reaches: [], total: 0,
    W: model.X.map((x) => x.slice()), H: model.X.map(() => []), taken: new Set(),
  });
  const copy = (state) => ({
    ...state, Q: [...state.Q], T: [...state.T], sizes: [...state.sizes], reaches: [...state.reaches],
    W: state.W.map((w) => w.slice()), H: state.H.map((h) => [...h]), taken: new Set(state.taken),
  });

  const takeOut = (w, h, Q) => Q.forEach((q, s) => {
    const share = dot(q, w);
    subtract(w, share, q);
    h[s] = (h[s] ?? 0) + share;
  });

  // One more direction, the last of Q, leaves a column.
  const reduce = (w, h, Q) => {
    const q = Q.at(-1), share = dot(q, w);
    subtract(w, share, q);
    h.push(share);
    if (dot(w, w) < MUCH_LEFT) takeOut(w, h, Q);
  };

  const reachOf = (size, h, reaches) => h.reduce((sum, share, s) => sum + Math.abs(share) * reaches[s], size);

  // Could the stored numbers, changed by a few roundings each, be exactly dependent?
  const depends = (norm, size, h, { T, sizes, reaches }, dependent) => {
    if (norm > dependent * reachOf(size, h, reaches)) return false;
    const b = [...h];
    let floor = size;
    for (let s = b.length - 1; s >= 0; s--) {
      b[s] /= T[s][s];
      for (let t = 0; t < s; t++) b[t] -= b[s] * T[s][t];
      floor += Math.abs(b[s]) * sizes[s];
    }
    return norm <= dependent * floor;
  };

  // What a feature adds to the directions: of its columns always that next which stands out most
  // from its rounding, without those that depend on others.
  const grown = (state, f) => {
    const { model } = state, { Q, T, sizes, reaches } = state;
    const now = { Q: [...Q], T: [...T], sizes: [...sizes], reaches: [...reaches] };
    let left = model.features[f].J.map((j) => ({ j, w: state.W[j].slice(), h: [...state.H[j]] }));
    let gain = 0;
    while (left.length) {
      for (const one of left) {
        one.norm = Math.sqrt(dot(one.w, one.w));
        one.reach = reachOf(model.sizes[one.j], one.h, now.reaches);
      }
      const next = left.reduce((best, one) => (one.norm / one.reach > best.norm / best.reach ? one : best));
      left = left.filter((one) => one !== next);
      const { j, w, h, norm, reach } = next;
      if (depends(norm, model.sizes[j], h, now, model.dependent)) continue;
      const q = w.map((value) => value / norm);
      now.Q.push(q);
      now.T.push([...h, norm]);
      now.sizes.push(model.sizes[j]);
      now.reaches.push(reach / norm);
      gain += explained(model, q);
      for (const one of left) reduce(one.w, one.h, now.Q);
    }
    return { ...now, gain: Math.min(gain, model.m - state.total), rank: now.Q.length - Q.length };
  };

  const explained = ({ n, S }, q) => {
    const width = S.length / n, along = new Float64Array(width);
    for (let i = 0; i < n; i++) {
      for (let c = 0; c < width; c++) along[c] += q[i] * S[i * width + c];
    }
    return dot(along, along);
  };

  const take = (state, f) => {
    const { gain, rank, ...more } = grown(state, f);
    const before = state.Q.length;
    Object.assign(state, more);
    state.taken.add(f);
    state.total += gain;
    state.model.features.forEach((feature, other) => {
      if (state.taken.has(other)) return;
      for (const j of feature.J) {
        for (let k = before + 1; k <= state.Q.length; k++) reduce(state.W[j], state.H[j], state.Q.slice(0, k));
      }
    });
    return gain;
  };

  // What each feature would add, and by what it is ranked.
  const candidates = (state, out) => {
    const { features, m, rows, adjust, nothing } = state.model;
    const chance = adjust === "chance" ? (m - state.total) / (rows - 1 - state.Q.length) : 0;
    const open = features.map((_, f) => f).filter((f) => !state.taken.has(f) && !out.has(f));
    return open.map((f) => ({ f, ...grown(state, f) })).filter(({ rank, gain }) => rank && gain > nothing)
      .map(({ f, gain, rank }) => ({ f, gain, score: gain - rank * chance }));
  };

  const best = (state, out) => {
    const { features, tie } = state.model, open = candidates(state, out);
    if (!open.length) return null;
    const top = open.reduce((a, b) => (b.score > a.score ? b : a));
    const equal = open.filter(({ score }) => score >= top.score - tie * top.gain);
    return equal.reduce((a, b) => (features[b.f].place < features[a.f].place ? b : a)).f;
  };

  // Select `size` features: those asked for first, then the best of those that are not out. The
  // path goes on from `steps`, and remembers the state before each step.
  const select = (model, { out, asked, size }, steps = [], from = start(model)) => {
    const state = copy(from), path = [...steps];
    const waiting = asked.filter((f) => !state.taken.has(f) && !out.has(f));
    while (path.length < Math.max(size, asked.length)) {
      const isAsked = waiting.length > 0, f = isAsked ? waiting.shift() : best(state, out);
      if (f === null) break;
      const before = copy(state), gain = take(state, f);
      path.push({ f, gain, total: state.total, isAsked, before });
    }
    return { steps: path, state, total: state.total };
  };

  const replaced = (model, scenario, path, at) => {
    const { f, before } = path.steps[at];
    const without = { ...scenario, out: new Set([...scenario.out, f]) };
    const now = select(model, without, path.steps.slice(0, at), before);
    const had = new Set(path.steps.map((step) => step.f));
    return { joined: now.steps.map((step) => step.f).filter((other) => !had.has(other)), lost: path.total - now.total };
  };

  // Words and elements ---------------------------------------------------------------------------

  const number = (value) => {
    const size = Math.abs(value);
    if (size < 1e-12) return "0";
    const text = size >= 1e-4 ? value.toFixed(4) : value.toExponential(2);
    return text.replace("-", "\u2212");
  };
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (tag === "button") made.type = "button";
    made.append(...children);
    return made;
  };
  const bar = (...widths) => {
    const made = element("span", { class: "bar", "aria-hidden": "true" });
    widths.forEach(([kind, width]) => {
      const part = element("i", kind ? { class: kind } : {});
      part.style.width = `${Math.max(0, 100 * width).toFixed(2)}%`;
      made.append(part);
    });
    return made;
  };

  const show = (carried) => {
    const model = unpack(carried), { features, m } = model;
    const part = (name) => section.querySelector(`[data-part="${name}"]`);
    const slider = part("size"), search = part("search");
    // What was selected, and how it would go on; the scenario is what the reader makes of it.
    const original = { out: new Set(), asked: carried.included, size: carried.size };
    const base = select(model, { ...original, size: carried.most });
    const selected = base.steps.slice(0, carried.size);
    let scenario = original;
    let path = null;

    const isForced = (f) => scenario.asked.includes(f) && !carried.included.includes(f);
    const named = (f) => element("b", { class: "name" }, features[f].name);
    const listed = (places) => places.flatMap((f, i) => {
      const between = i === 0 ? [] : [i === places.length - 1 ? " and " : ", "];
      return [...between, named(f)];
    });

    // What is different now, against as many features of the selection as it was.
    const difference = () => {
      const { out, size } = scenario, forced = scenario.asked.filter(isForced);
      const changed = out.size + forced.length > 0;
      const before = base.steps.slice(0, changed ? size : carried.size);
      const had = before.map(({ f }) => f), has = path.steps.map(({ f }) => f);
      return {
        changed, out: [...out], forced, had,
        joined: has.filter((f) => !had.includes(f) && !forced.includes(f)),
        dropped: had.filter((f) => !has.includes(f) && !out.has(f)),
        total: before.at(-1).total, lost: before.at(-1).total - path.total,
      };
    };

    const exchange = ({ out, forced, had, joined, dropped }) => {
      const gone = out.filter((f) => had.includes(f)).length;
      const verb = (places, one, several) => (places.length === 1 ? one : several);
      const come = [...listed(joined), verb(joined, " comes in", " come in")];
      const go = [...listed(dropped), verb(dropped, " goes", " go")];
      if (joined.length && joined.length === gone && !dropped.length && !forced.length) {
        return [...listed(joined), verb(joined, " takes its place", " take their places")];
      }
      if (joined.length && dropped.length) return [...come, ", ", ...go];
      if (joined.length) return come;
      if (dropped.length) return go;
      return [path.steps.length < had.length ? "nothing else takes the place" : "no other feature changes"];
    };

    const sentence = () => {
      const now = difference(), { out, forced, changed, lost } = now;
      const count = path.steps.length, reach = count === 1 ? "feature reaches" : "features reach";
      const cost = Math.abs(lost) < 1e-12 ? "nothing is lost"
        : lost > 0 ? `${number(lost)} of ${number(now.total)} is lost`
        : `${number(-lost)} is gained on ${number(now.total)}`;
      const words = [];
      if (changed) {
        if (out.length) words.push("Without ", ...listed(out));
        if (forced.length) words.push(out.length ? " and with " : "With ", ...listed(forced));
        words.push(": ", ...exchange(now), `; ${cost}.`);
        words.push(` The ${count} ${reach} ${number(path.total)} of ${m}.`);
      } else if (scenario.size === carried.size) {
        words.push(`As selected: ${count} ${reach} ${number(path.total)} of ${m}.`);
      } else {
        words.push(`${count} ${reach} ${number(path.total)} of ${m}, ${carried.size} as selected ${number(now.total)}; ${cost}.`);
      }
      if (count < scenario.size) words.push(" No other feature of this page adds anything.");
      return words;
    };

    const row = ({ f, gain, total, isAsked }, at) => {
      const { name, kind } = features[f], marks = [];
      if (kind !== "numeric") marks.push(" ", element("small", {}, kind));
      if (isAsked) marks.push(" ", element("span", { class: "tag" }, isForced(f) ? "forced in" : "asked for"));
      else if (!selected.some((step) => step.f === f)) marks.push(" ", element("span", { class: "tag selected" }, "new"));
      const button = isForced(f) ? element("button", { "data-release": f, "aria-label": `Release ${name}` }, "Release")
        : element("button", { "data-out": f, "aria-label": `Leave out ${name}` }, "Leave out");
      return element("li", { "data-feature": f, "data-gain": gain, "data-total": total },
        element("span", { class: "step" }, String(at + 1)),
        element("span", { class: "what" }, named(f), ...marks),
        element("span", { class: "figure gain" }, `+${number(gain)}`),
        element("span", { class: "figure" }, number(total)),
        button,
        bar(["before", (total - gain) / m], ["", gain / m]),
        ...(path.steps.length <= MOST_REPLACED ? [replacement(at)] : []));
    };

    const replacement = (at) => {
      const { joined, lost } = replaced(model, scenario, path, at);
      const others = joined.length > 1 ? ` and ${joined.length - 1} more` : "";
      const instead = joined.length ? [named(joined[0]), `${others}, `] : [];
      const change = `${lost < 0 ? "+" : "\u2212"}${number(Math.abs(lost))}`;
      return element("small", { class: "instead", "data-lost": lost }, "Without it: ", ...instead, change);
    };

    const other = ({ f, gain }) => element("li", { "data-feature": f, "data-gain": gain },
      element("span", { class: "what" }, named(f)),
      element("span", { class: "figure" }, `+${number(gain)}`),
      element("button", { "data-in": f, "aria-label": `Force in ${features[f].name}` }, "Force in"));

    const showOthers = () => {
      const gains = new Map(candidates(path.state, scenario.out).map(({ f, gain }) => [f, gain]));
      const wanted = search.value.trim().toLowerCase();
      const found = features.map(({ name, place }, f) => ({ f, name, place, gain: gains.get(f) ?? 0 }))
        .filter(({ f, name }) => !path.state.taken.has(f) && !scenario.out.has(f) && name.toLowerCase().includes(wanted))
        .sort((a, b) => b.gain - a.gain || a.place - b.place);
      part("others").replaceChildren(...found.map(other));
      part("none").hidden = found.length > 0;
    };

    // Some changes were tried on all features, those in this page and others.
    const doubt = () => {
      const { out, size } = scenario, { sure } = carried, n_forced = scenario.asked.filter(isForced).length;
      if (features.length === carried.n_features) return "";
      const isSure = !n_forced && (out.size === 0 ? size <= sure.size
        : out.size === 1 && size <= carried.size && sure.without.includes([...out][0]));
      return isSure ? " This selection was tried on all of them, with the same result."
        : " Of the others, one might do better in this selection.";
    };

    const showAll = () => {
      path = select(model, scenario);
      slider.min = Math.max(1, scenario.asked.length);
      slider.value = scenario.size;
      part("count").textContent = String(scenario.size);
      part("sentence").replaceChildren(...sentence());
      part("path").replaceChildren(...path.steps.map(row));
      const out = [...scenario.out].map((f) => element("li", { "data-feature": f }, named(f),
        element("button", { "data-back": f, "aria-label": `Put back ${features[f].name}` }, "Put back")));
      part("out").replaceChildren(...out);
      part("left-out").hidden = !out.length;
      part("doubt").textContent = doubt();
      part("reset").disabled = scenario === original;
      showOthers();
    };

    // The button that was pressed is gone; the one that undoes it is what a reader may want next.
    const change = (next, undo) => {
      scenario = { ...scenario, ...next };
      scenario.size = Math.max(scenario.size, scenario.asked.length);
      showAll();
      if (undo) (section.querySelector(undo) ?? part("reset")).focus();
    };
    const without = (places, f) => places.filter((one) => one !== f);
    const actions = {
      out: (f) => change({ out: new Set([...scenario.out, f]), asked: without(scenario.asked, f) }, `[data-back="${f}"]`),
      back: (f) => {
        const forced = scenario.asked.filter(isForced);
        const included = carried.included.filter((one) => one === f || scenario.asked.includes(one));
        change({ out: new Set(without([...scenario.out], f)), asked: [...included, ...forced] }, `[data-out="${f}"], [data-in="${f}"]`);
      },
      in: (f) => change({ asked: [...scenario.asked, f] }, `[data-release="${f}"]`),
      release: (f) => change({ asked: without(scenario.asked, f) }, `[data-in="${f}"], [data-out="${f}"]`),
    };

    section.addEventListener("click", ({ target }) => {
      for (const [name, act] of Object.entries(actions)) {
        if (name in target.dataset) return act(Number(target.dataset[name]));
      }
    });
    slider.addEventListener("input", () => change({ size: Number(slider.value) }));
    search.addEventListener("input", showOthers);
    part("reset").addEventListener("click", () => {
      scenario = original;
      search.value = "";
      showAll();
      slider.focus();
    });
    slider.max = base.steps.length;
    showAll();
    part("needs-script").remove();
    part("controls").hidden = false;
  };

  if (section) show(JSON.parse(section.dataset.carried));
}

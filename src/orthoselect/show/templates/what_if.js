
// The section "What if": greedy selection from the columns that the page carries, by the rules of
// select(). A feature is its place among those carried; what is left of a column is kept as it is,
// not by its inner products, so that no digits are lost where columns are nearly dependent.
{
  const section = document.getElementById("what-if");
  const MUCH_LEFT = 0.1; // of the squared norm; with less a column is orthogonalized once more
  const MOST_REPLACED = 30; // steps for which replacements are worked out

  // Numbers -------------------------------------------------------------------------------------

  const floats = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
  // The product of n numbers of a, from place i on, and of b, from place j on.
  const dot = (n, a, i, b, j) => {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += a[i + k] * b[j + k];
    return sum;
  };

  // Columns stand one after the other, n numbers each; S is by rows.
  const unpack = (carried) => {
    const { columns: n, rank, rows, adjust, tolerances } = carried;
    const triangle = floats(carried.triangle), X = new Float64Array(n * n);
    for (let j = 0, from = 0; j < n; from += ++j) X.set(triangle.subarray(from, from + j + 1), j * n);
    let end = 0;
    const features = carried.features.map((one) => ({ ...one, J: range(end, (end += one.columns)) }));
    const S = floats(carried.response), sizes = floats(carried.roundings);
    return { n, m: rank, rows, adjust, ...tolerances, X, S, sizes, features };
  };

  // A state has the orthonormal directions Q that were taken, their triangular factor T by columns,
  // one rounding of each of their columns (`sizes`) and what these may do to each direction
  // (`reaches`). Of every column it has what is left, W, its shares along Q, H, and how much was
  // left when it was last made orthogonal to all of Q.
  const start = (model) => ({
    model, Q: [], T: [], sizes: [], reaches: [], total: 0, taken: new Set(),
    W: model.X.slice(), H: new Float64Array(model.n ** 2), since: new Float64Array(model.n).fill(1),
  });
  const copy = (state) => ({
    ...state, Q: [...state.Q], T: [...state.T], sizes: [...state.sizes], reaches: [...state.reaches],
    taken: new Set(state.taken), W: state.W.slice(), H: state.H.slice(), since: state.since.slice(),
  });

  const takeOut = (n, { W, H }, j, q, s) => {
    const share = dot(n, q, 0, W, j * n);
    for (let i = 0; i < n; i++) W[j * n + i] -= share * q[i];
    H[j * n + s] += share;
  };

  // Make a column orthogonal to direction s, and to all before where much was lost since the last time.
  const reduce = (n, columns, j, Q, s) => {
    takeOut(n, columns, j, Q[s], s);
    const { W, since } = columns;
    if (dot(n, W, j * n, W, j * n) >= MUCH_LEFT * since[j]) return;
    for (let t = 0; t <= s; t++) takeOut(n, columns, j, Q[t], t);
    since[j] = dot(n, W, j * n, W, j * n);
  };

  const reachOf = (n, size, { H }, j, reaches) => {
    let sum = size;
    for (let s = 0; s < reaches.length; s++) sum += Math.abs(H[j * n + s]) * reaches[s];
    return sum;
  };

  // Could the stored numbers, changed by a few roundings each, be exactly dependent?
  const depends = (model, norm, reach, size, h, { T, sizes }) => {
    if (norm > model.dependent * reach) return false; // a bound of what follows, mostly enough
    const b = [...h];
    let floor = size;
    for (let s = b.length - 1; s >= 0; s--) {
      b[s] /= T[s][s];
      for (let t = 0; t < s; t++) b[t] -= b[s] * T[s][t];
      floor += Math.abs(b[s]) * sizes[s];
    }
    return norm <= model.dependent * floor;
  };

  // The squared norm of S'w.
  const explained = ({ n, S }, w, from) => {
    const width = S.length / n;
    let sum = 0;
    for (let c = 0; c < width; c++) {
      let along = 0;
      for (let i = 0; i < n; i++) along += w[from + i] * S[i * width + c];
      sum += along * along;
    }
    return sum;
  };

  // Return the directions once a feature is taken, and what it adds. Of its columns that is always
  // next which stands out most from its rounding; those that depend on others are left.
  const grown = (state, f) => {
    const { model, W, H, since } = state, { n, sizes } = model, J = model.features[f].J;
    const some = (columns) => Float64Array.from(J.flatMap((j) => [...columns.subarray(j * n, j * n + n)]));
    const own = { W: some(W), H: some(H), since: Float64Array.from(J, (j) => since[j]) };
    const now = { Q: [...state.Q], T: [...state.T], sizes: [...state.sizes], reaches: [...state.reaches] };
    const left = new Set(J.keys());
    let gain = 0;
    while (left.size) {
      let next = null;
      for (const p of left) {
        const norm = Math.sqrt(dot(n, own.W, p * n, own.W, p * n));
        const reach = reachOf(n, sizes[J[p]], own, p, now.reaches);
        if (next === null || norm / reach > next.norm / next.reach) next = { p, norm, reach };
      }
      const { p, norm, reach } = next, s = now.Q.length;
      left.delete(p);
      const h = own.H.subarray(p * n, p * n + s);
      if (depends(model, norm, reach, sizes[J[p]], h, now)) continue;
      gain += explained(model, own.W, p * n) / norm ** 2;
      now.Q.push(own.W.slice(p * n, p * n + n).map((value) => value / norm));
      now.T.push([...h, norm]);
      now.sizes.push(sizes[J[p]]);
      now.reaches.push(reach / norm);
      for (const other of left) reduce(n, own, other, now.Q, s);
    }
    return { now, gain, rank: now.Q.length - state.Q.length };
  };

  // What a feature would add; of a single column that takes no directions to be made.
  const worth = (state, f) => {
    const { model, W } = state, { n, sizes } = model, [j, ...more] = model.features[f].J;
    if (j === undefined || more.length) return grown(state, f);
    const norm = Math.sqrt(dot(n, W, j * n, W, j * n)), reach = reachOf(n, sizes[j], state, j, state.reaches);
    const h = state.H.subarray(j * n, j * n + state.Q.length);
    if (depends(model, norm, reach, sizes[j], h, state)) return { gain: 0, rank: 0 };
    return { gain: explained(model, W, j * n) / norm ** 2, rank: 1 };
  };

  const take = (state, f) => {
    const { n, m, features } = state.model, before = state.Q.length;
    const { now, gain } = grown(state, f), added = Math.min(gain, m - state.total);
    Object.assign(state, now);
    state.total += added;
    state.taken.add(f);
    features.forEach(({ J }, other) => {
      if (state.taken.has(other)) return;
      for (const j of J) for (let s = before; s < state.Q.length; s++) reduce(n, state, j, state.Q, s);
    });
    return added;
  };

  // What each feature would add, and what it is ranked by: with "chance", its gain beyond that of
  // as many columns of pure noise.
  const candidates = (state, out) => {
    const { features, m, rows, adjust, nothing } = state.model;
    const left = Math.max(rows - 1 - state.Q.length, 1);
    const chance = adjust === "chance" ? Math.max(m - state.total, 0) / left : 0;
    const open = [...features.keys()].filter((f) => !state.taken.has(f) && !out.has(f));
    return open.map((f) => ({ f, ...worth(state, f) }))
      .filter(({ rank, gain }) => rank && gain > nothing)
      .map(({ f, rank, gain }) => ({ f, gain, score: gain - rank * chance }));
  };

  const best = (state, out) => {
    const { features, tie } = state.model, open = candidates(state, out);
    if (!open.length) return null;
    const top = open.reduce((a, b) => (b.score > a.score ? b : a));
    const equal = open.filter(({ score }) => score >= top.score - tie * top.gain);
    return equal.reduce((a, b) => (features[b.f].place < features[a.f].place ? b : a)).f;
  };

  // Select so many features, those asked for first, then the best of those that are not out. It may
  // go on from steps made before; with `keep` each step knows the state that it was taken in.
  const select = (model, { out, asked, size }, { steps = [], state = start(model), keep = false } = {}) => {
    const made = [...steps], now = copy(state);
    const waiting = asked.filter((f) => !now.taken.has(f) && !out.has(f));
    while (made.length < size) {
      const isAsked = waiting.length > 0, f = isAsked ? waiting.shift() : best(now, out);
      if (f === null) break;
      const before = keep ? copy(now) : null, gain = take(now, f);
      made.push({ f, gain, total: now.total, isAsked, before });
    }
    return { steps: made, state: now, total: now.total };
  };

  // What comes in once a step's feature is left out, and what is lost by that.
  const replaced = (model, scenario, path, at) => {
    const { f, before } = path.steps[at];
    const without = { ...scenario, out: new Set([...scenario.out, f]) };
    const now = select(model, without, { steps: path.steps.slice(0, at), state: before });
    const had = new Set(path.steps.map((step) => step.f));
    const joined = now.steps.map((step) => step.f).filter((other) => !had.has(other));
    return { joined, lost: path.total - now.total };
  };

  // Words and elements ---------------------------------------------------------------------------

  const number = (value) => {
    const size = Math.abs(value);
    if (size < 1e-12) return "0";
    if (size < 1e-4) return "<0.0001";
    return value.toFixed(4).replace("-", "\u2212");
  };
  // With its sign; what is too small to write has none.
  const signed = (value) => {
    const text = number(Math.abs(value));
    return text.startsWith("<") ? text : `${value < 0 ? "\u2212" : "+"}${text}`;
  };
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
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
    const button = (words, action, f) => element("button",
      { type: "button", [`data-${action}`]: f, "aria-label": `${words} ${features[f].name}` }, words);
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
      if (path.steps.length === had.length) return ["the features stay the same"];
      return [verb(out, "nothing takes its place", "nothing takes their places")];
    };

    const sentence = () => {
      const now = difference(), { out, forced, changed, lost } = now;
      const count = path.steps.length, reach = count === 1 ? "feature reaches" : "features reach";
      const result = Math.abs(lost) < 1e-12 ? "nothing is lost"
        : `${number(Math.abs(lost))} of ${number(now.total)} is ${lost > 0 ? "lost" : "gained"}`;
      const words = [];
      if (changed) {
        if (out.length) words.push("Without ", ...listed(out));
        if (forced.length) words.push(out.length ? " and with " : "With ", ...listed(forced));
        words.push(": ", ...exchange(now), `; ${result}.`);
        words.push(` The ${count} ${reach} ${number(path.total)} of ${m}.`);
      } else if (scenario.size === carried.size) {
        words.push(`As selected: ${count} ${reach} ${number(path.total)} of ${m}.`);
      } else {
        const usual = `the ${carried.size} selected ${number(now.total)}`;
        words.push(`${count} ${reach} ${number(path.total)} of ${m}, ${usual}; ${result}.`);
      }
      if (count < scenario.size) words.push(" No other feature of this page adds anything.");
      return words;
    };

    const row = ({ f, gain, total, isAsked, before }, at) => {
      const { kind } = features[f], marks = [];
      const isNew = !selected.some((step) => step.f === f);
      const tag = (words, more = "") => marks.push(" ", element("span", { class: `tag ${more}` }, words));
      if (kind !== "numeric") marks.push(" ", element("small", {}, kind));
      if (isAsked) tag(isForced(f) ? "forced in" : "asked for");
      else if (isNew) tag("new", "selected");
      return element("li", { "data-feature": f, "data-gain": gain, "data-total": total },
        element("span", { class: "step" }, String(at + 1)),
        element("span", { class: "what" }, named(f), ...marks),
        element("span", { class: "figure gain" }, signed(gain)),
        element("span", { class: "figure" }, number(total)),
        isForced(f) ? button("Release", "release", f) : button("Leave out", "out", f),
        bar(["before", (total - gain) / m], ["", gain / m]),
        ...(before ? [replacement(at)] : []));
    };

    const replacement = (at) => {
      const { joined, lost } = replaced(model, scenario, path, at);
      const others = joined.length > 1 ? ` and ${joined.length - 1} more` : "";
      const instead = joined.length ? [named(joined[0]), `${others}, `] : [];
      return element("small", { class: "instead", "data-lost": lost },
        "Without it: ", ...instead, signed(-lost));
    };

    const other = ({ f, gain }) => element("li", { "data-feature": f, "data-gain": gain },
      named(f),
      element("span", { class: "figure" }, signed(gain)),
      button("Force in", "in", f));

    const showOthers = () => {
      const gains = new Map(candidates(path.state, scenario.out).map(({ f, gain }) => [f, gain]));
      const wanted = search.value.trim().toLowerCase();
      const open = features.map(({ name, place }, f) => ({ f, name, place, gain: gains.get(f) ?? 0 }))
        .filter(({ f }) => !path.state.taken.has(f) && !scenario.out.has(f));
      const found = open.filter(({ name }) => name.toLowerCase().includes(wanted))
        .sort((a, b) => b.gain - a.gain || a.place - b.place);
      part("others").replaceChildren(...found.map(other));
      part("none").hidden = found.length > 0;
      part("none").textContent = open.length > 0
        ? "No other feature has such a name." : "All features are in the path or left out.";
    };

    // Some changes were tried on all features, those in this page and others.
    const doubt = () => {
      const { out, asked, size } = scenario, { sure } = carried;
      if (features.length === carried.n_features) return "";
      const isSure = !asked.some(isForced) && (out.size === 0 ? size <= sure.size
        : out.size === 1 && size <= carried.size && sure.without.includes([...out][0]));
      return isSure ? " This selection was tried on all of them, with the same result."
        : " Of the others, one might do better in this selection.";
    };

    const showAll = () => {
      path = select(model, scenario, { keep: scenario.size <= MOST_REPLACED });
      slider.min = Math.max(1, scenario.asked.length);
      slider.value = scenario.size;
      part("count").textContent = String(scenario.size);
      part("sentence").replaceChildren(...sentence());
      part("path").replaceChildren(...path.steps.map(row));
      const out = [...scenario.out].map((f) => element("li", {}, named(f), button("Put back", "back", f)));
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
    const without = (places, f) => [...places].filter((one) => one !== f);
    const actions = {
      out: (f) => {
        const out = new Set([...scenario.out, f]);
        change({ out, asked: without(scenario.asked, f) }, `[data-back="${f}"]`);
      },
      back: (f) => {
        const out = new Set(without(scenario.out, f)), forced = scenario.asked.filter(isForced);
        const included = carried.included.filter((one) => !out.has(one));
        change({ out, asked: [...included, ...forced] }, `[data-out="${f}"], [data-in="${f}"]`);
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

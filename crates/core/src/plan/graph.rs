//! Knots among dependencies: stories that wait for each other. In time that grows with the number of dependencies,
//! and without recursion, because a chain may be as long as the plan.

use std::collections::{HashMap, VecDeque};

/// Who depends on whom, by number.
pub(super) struct Graph {
    next: Vec<Vec<usize>>,
}

/// Where the search stands with one story.
#[derive(Debug, Clone, Copy, Default)]
struct Mark {
    /// When it was first seen, from 1.
    seen: usize,
    /// The earliest that can be reached from here and is not settled.
    lowest: usize,
    settled: bool,
}

impl Graph {
    /// Dependencies on what is not in the list are left out.
    pub(super) fn new<'s>(ids: &[&str], depends_on: impl Iterator<Item = Vec<&'s str>>) -> Graph {
        let at: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        Graph { next: depends_on.map(|ids| ids.iter().filter_map(|id| at.get(id).copied()).collect()).collect() }
    }

    fn next(&self, at: usize) -> &[usize] {
        self.next.get(at).map(Vec::as_slice).unwrap_or_default()
    }

    /// The strongly connected components that hold a cycle (Tarjan).
    pub(super) fn knots(&self) -> Vec<Vec<usize>> {
        let mut marks = vec![Mark::default(); self.next.len()];
        let (mut clock, mut open, mut knots) = (0, Vec::new(), Vec::new());
        for start in 0..self.next.len() {
            let mut path = if read(&marks, start).seen == 0 { vec![(start, 0)] } else { Vec::new() };
            while let Some((node, followed)) = path.last_mut() {
                let node = *node;
                if *followed == 0 {
                    clock += 1;
                    write(&mut marks, node, Mark { seen: clock, lowest: clock, settled: false });
                    open.push(node);
                }
                let target = self.next(node).get(*followed).copied();
                *followed += 1;
                if let Some(target) = target {
                    let found = read(&marks, target);
                    if found.seen == 0 {
                        path.push((target, 0));
                    } else if !found.settled {
                        lower(&mut marks, node, found.seen);
                    }
                    continue;
                }
                path.pop();
                let mark = read(&marks, node);
                if let Some((parent, _)) = path.last() {
                    lower(&mut marks, *parent, mark.lowest);
                }
                if mark.lowest == mark.seen {
                    let from = open.iter().rposition(|opened| *opened == node).unwrap_or_default();
                    let knot = open.split_off(from);
                    for settled in &knot {
                        write(&mut marks, *settled, Mark { settled: true, ..mark });
                    }
                    if knot.len() > 1 || self.next(node).contains(&node) {
                        knots.push(knot);
                    }
                }
            }
        }
        knots
    }

    /// The shortest way from the first story of a knot back to itself.
    pub(super) fn cycle(&self, knot: &[usize]) -> Vec<usize> {
        let Some(start) = knot.iter().min().copied() else { return Vec::new() };
        let mut came_from: HashMap<usize, usize> = HashMap::new();
        let inside: std::collections::HashSet<usize> = knot.iter().copied().collect();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for target in self.next(node).iter().copied().filter(|target| inside.contains(target)) {
                if target == start {
                    let mut way = vec![start, node];
                    while way.last() != Some(&start) {
                        way.push(way.last().and_then(|last| came_from.get(last)).copied().unwrap_or(start));
                    }
                    way.reverse();
                    return way;
                }
                if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(target) {
                    entry.insert(node);
                    queue.push_back(target);
                }
            }
        }
        Vec::new()
    }
}

fn read(marks: &[Mark], at: usize) -> Mark {
    marks.get(at).copied().unwrap_or_default()
}

fn write(marks: &mut [Mark], at: usize, mark: Mark) {
    if let Some(slot) = marks.get_mut(at) {
        *slot = mark;
    }
}

fn lower(marks: &mut [Mark], at: usize, to: usize) {
    let mark = read(marks, at);
    write(marks, at, Mark { lowest: mark.lowest.min(to), ..mark });
}

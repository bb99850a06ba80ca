/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * protocol.pml: how ranks lend, grant, borrow, reclaim, move and spread CPUs and die: a model for spin.
 *
 * Each step that others can see is a step here: a compare-and-swap on a word, a store into a thread's slot, a change of an affinity.
 * After each step any other process may go on, and a rank may be killed. Functions have the names that they have in C, with the
 * file in which they are; t/t0006-model.t runs it with these choices:
 *
 *   SCENE_LEND, SCENE_MOVE, SCENE_DIE   what the three ranks do (see init)
 *   CPUS_EACH                           CPUs of each rank at its start
 *   POLLS                               how often a rank that computes looks, in each wait, for others to lend to (SCENE_LEND)
 *   HINTS                               with header.free_cpus and header.borrowers (only with one CPU each)
 *   FAULT_...                           a defect that the code once had: spin must find it
 *
 * Where it corresponds to the code, process by process; each part says its functions, and t/t0006-model.t that these are there:
 *
 *   computes    region.c: mal_region_begin, mal_region_end; then as waits
 *   waits       lend.c: mal_call_begin, mal_wait_poll, lend_or_grant, grant, roll_back, wait_end, take_back
 *               cpus.c: mal_cpus_refresh, mal_cpus_borrow, mal_cpus_release, mal_cpus_apply_plan, give, mal_cpus_leave
 *   thread      ompt.c: enter_team, settle_in; bind.c: mal_bind_self; place.c: mal_place_bind, mal_place_refuge
 *   controller  ranks.c: recover; owners.c: take_from_waiting; request.c: mal_request_forget, mal_request_ask
 *   planner     planning.c: mal_plan_make; by mal_cpu_slot.target
 *   killer      kill(2), at any step
 *
 * What is left out: of a rank's team only its last thread is a process here, which shares a CPU of its rank with another thread unless
 * it was sent elsewhere; the others stay on their rank's own CPUs. Scans of all words (refuge) are one step. Memory is
 * sequentially consistent, as the fences in the code make it where it matters. Words have no generation, as no step here compares
 * with what it read before: the loops in core/cpuword.c are one step each.
 */
#define RANKS 3
#ifndef CPUS_EACH
#define CPUS_EACH 1
#endif
#define CPUS (RANKS * CPUS_EACH)
#ifndef POLLS
#define POLLS 0
#endif
#define NOBODY 7
#define NONE 7
#define RUNNING 1
#define ENDED 2
#define DEAD 3

/* struct mal_cpu_slot: the word, taken apart, and the plan. */
byte owner[CPUS], user[CPUS], target[CPUS];
bool lent[CPUS];
/* struct mal_rank_slot and the header: state, changes since they were last seen, the request but for its numbers and its first bit. */
byte state[RANKS];
bool changes[RANKS];
#define CLOSED 0
#define OPENED 1
#define ASKS 2
byte request[RANKS];
/* struct mal_thread_slot of the last thread of each team: its place, where it was bound, whether it has registered. */
byte place[RANKS];
bool tid[RANKS];
/* What the kernel knows: where the thread may run, whether the process lives. */
byte at[RANKS];
bool alive[RANKS];
/* struct mal_rank: sets of CPUs, a bit each. */
byte own[RANKS], borrowed[RANKS];
bool lending[RANKS], plan_seen[RANKS];
#ifdef HINTS
/* The header's hints, a bit for each CPU and rank, and the first bit of the request. */
bool free_cpus[CPUS], borrowers[RANKS], borrower[RANKS];
#define FREE(c) (lent[c] && user[c] == NOBODY)
#define CHECK_FREE(c) mal_free_check(c);
/* The same between two steps of a d_step. */
#define ALSO_CHECK_FREE(c) }; mal_free_check(c); skip; d_step {
#define BORROWER(b) mal_borrower_set(b);
/* Borrowers and lenders act only if a bit is set. */
#define MAY_BORROW (free_cpus[0] || free_cpus[1] || free_cpus[2])
#define MAY_LEND (lending[me] || borrowers[0] || borrowers[1] || borrowers[2])
#define LOCAL_HINTS ; byte f
#else
#define CHECK_FREE(c)
#define ALSO_CHECK_FREE(c)
#define BORROWER(b)
#define MAY_BORROW true
#define MAY_LEND true
#define LOCAL_HINTS
#endif
/* For the properties: what ranks are doing, operations under way, and deaths that the controller has not seen. */
bool computing[RANKS], waiting[RANKS], starting[RANKS], recovered[RANKS];
byte under_way[RANKS];
bool planned;

#define BIT(c) (1 << (c))
#define LOW(m) ((m) & 1 -> 0 : ((m) & 2 -> 1 : ((m) & 4 -> 2 : ((m) & 8 -> 3 : ((m) & 16 -> 4 : ((m) & 32 -> 5 : NONE))))))
#define HIGH(m) ((m) & 32 -> 5 : ((m) & 16 -> 4 : ((m) & 8 -> 3 : ((m) & 4 -> 2 : ((m) & 2 -> 1 : ((m) & 1 -> 0 : NONE))))))
/* place.c: mal_place_is_allowed */
#define USED_BY(c, r) (user[c] == (r) || (owner[c] == (r) && user[c] == NOBODY && !lent[c]))
/* The same where threads are bound: those of a rank that waits have no other place than CPUs that it has lent. */
#ifdef FAULT_NO_WAY_HOME
#define PLACE_OF(c, r) USED_BY(c, r)
#else
#define PLACE_OF(c, r) (USED_BY(c, r) || owner[c] == (r))
#endif

/* Properties, at each moment at which no operation is under way. */
#define QUIET (!under_way[0] && !under_way[1] && !under_way[2] && (alive[0] || recovered[0]) && (alive[1] || recovered[1]) && \
	(alive[2] || recovered[2]))
inline check_now()
{
	if
	:: QUIET ->
		j = 0;
		do
		:: j < RANKS ->
			/* One user a CPU: a thread that computes is on a CPU that its rank uses. */
			assert(!(alive[j] && computing[j] && tid[j] && !USED_BY(at[j], j)));
			/* And where its place is, so that no CPU that was won stands idle. */
			assert(!(alive[j] && computing[j] && tid[j] && !starting[j] && at[j] != place[j]));
			/* One that waits for its next region is on no CPU of others. */
			assert(!(alive[j] && tid[j] && !starting[j] && user[at[j]] != j && owner[at[j]] != j));
			/* Nobody is granted CPUs, or asks for some, whose region is over. */
			assert(!(alive[j] && request[j] != CLOSED && !computing[j]));
			j++
		:: else -> break
		od;
		j = 0;
		do
		:: j < CPUS ->
			/* No CPU is lost: its owner runs, or it is free for others. */
			assert((alive[owner[j]] && state[owner[j]] == RUNNING) || lent[j]);
			assert(user[j] == NOBODY || (alive[user[j]] && state[user[j]] == RUNNING));
			/* No CPU is parked with a rank that waits. */
			assert(user[j] == NOBODY || user[j] == owner[j] || !waiting[user[j]]);
			/* Everybody comes home: who does not lend has its CPUs, or will look at its words. */
			assert(lending[owner[j]] || !alive[owner[j]] || state[owner[j]] != RUNNING || changes[owner[j]] ||
			       (user[j] == owner[j] && !lent[j]));
			/* And who lends knows what it lent. */
			assert(!lending[owner[j]] || !alive[owner[j]] || changes[owner[j]] || (own[owner[j]] & BIT(j)));
#ifdef HINTS
			/* The hints are right, of CPUs and of ranks. */
			assert(free_cpus[j] == FREE(j));
			assert(borrowers[j] == (borrower[j] && alive[j]));
#endif
			j++
		:: else -> break
		od;
		j = 0
	:: else
	fi
}
#define BEGIN under_way[me]++
#define END(more) atomic { skip; d_step { more; under_way[me]--; check_now() } }

#ifdef HINTS
/* request.c: mal_free_check, mal_borrower_check. Whoever writes last looks again. */
inline mal_free_check(cpu)
{
	do
	:: f = FREE(cpu);
		free_cpus[cpu] = f;
		if
		:: atomic { f == FREE(cpu) -> f = 0; break }
		:: else
		fi
	od
}
inline mal_borrower_check(r)
{
	do
	:: f = borrower[r];
		borrowers[r] = f;
		if
		:: atomic { f == borrower[r] -> f = 0; break }
		:: else
		fi
	od
}

/* request.h: mal_borrower_set */
inline mal_borrower_set(would)
{
	if
	:: borrower[me] != would -> borrower[me] = would; mal_borrower_check(me)
	:: else
	fi
}
#endif

/* place.c: mal_place_refuge */
inline find_refuge(r)
{
	d_step {
		rf = NONE;
		j = CPUS;
		do
		:: j > 0 ->
			j--;
			if
			:: user[j] == r -> rf = j
			:: else
			fi
		:: else -> break
		od;
		if
		:: own[r] && user[HIGH(own[r])] == r -> rf = HIGH(own[r])
		:: else
		fi;
		j = 0;
		do
		:: j < CPUS && rf == NONE && PLACE_OF(j, r) -> rf = j
		:: j < CPUS && rf == NONE && !PLACE_OF(j, r) -> j++
		:: else -> break
		od;
		j = 0
	}
}

/* place.c: mal_place_bind. Who binds a thread then looks at its place and at the word again, until both agree. */
inline bind_to(r, c)
{
	x = c;
	do
	:: true ->
		at[r] = x;
#ifdef FAULT_LATE_THREAD
		break
#else
		if
		:: atomic { place[r] == x && PLACE_OF(x, r) -> break }
		:: atomic { place[r] != x -> x = place[r] }
		:: atomic { place[r] == x && !PLACE_OF(x, r) -> find_refuge(r) };
			d_step {
				if
				:: rf == NONE -> skip
				:: rf != NONE && place[r] == x -> place[r] = rf; x = rf
				:: else -> x = place[r]
				fi
			};
			if
			:: rf == NONE -> break
			:: else -> rf = 0
			fi
		fi
#endif
	od;
	atomic { x = 0; rf = 0 }
}

/* leave_if_reclaimed, which bind.c once had: of use where nobody else has changed the place. */
inline leave_if_reclaimed(r, c)
{
#ifdef FAULT_LATE_THREAD
	if
	:: USED_BY(c, r)
	:: else ->
		find_refuge(r);
		if
		:: d_step { place[r] == c && rf != NONE -> place[r] = rf; x = rf } -> at[r] = x
		:: else
		fi;
		atomic { x = 0; rf = 0 }
	fi
#else
	skip
#endif
}

/* bind.c: mal_bind_evict. SENT: a thread was. */
inline mal_bind_evict(r, c)
{
	sent = false;
	if
	:: place[r] == c ->
		find_refuge(r);
		d_step {
			if
			:: rf != NONE && place[r] == c -> place[r] = rf; sent = tid[r]; p = rf
			:: else
			fi;
			rf = 0
		};
		if
		:: sent -> bind_to(r, p); p = 0
		:: else -> p = 0
		fi
	:: else
	fi;
	changes[r] = true
}

/* bind.c: mal_bind_spread. SENT: MAL_SPREAD_DONE. */
inline mal_bind_spread(r, c)
{
	d_step { sent = false; p = place[r]; if :: p != NONE && (own[r] & BIT(p)) && p != c && tid[r] :: else -> p = NONE fi };
	d_step {
		if
		:: p != NONE && place[r] == p -> place[r] = c; sent = true
		:: else
		fi;
		p = 0
	};
	if
	:: sent -> bind_to(r, c)
	:: else
	fi
}

/* bind.c: mal_bind_team; for a team that has one thread more than CPUs of its own. */
inline mal_bind_team(r)
{
	d_step {
		p = (borrowed[r] -> LOW(borrowed[r]) : HIGH(own[r]));
		b = tid[r] && place[r] != p;
		place[r] = p
	};
	if
	:: b ->
		bind_to(r, p);
		leave_if_reclaimed(r, p)
	:: else
	fi;
	atomic { p = 0; b = 0 }
}

/* cpus.c: read_words */
inline read_words()
{
	d_step { borrowed[me] = 0; mask = 0 };
	c = 0;
	do
	:: c < CPUS ->
		if
		:: d_step { owner[c] == me && user[c] == NOBODY && !lent[c] -> user[c] = me; mask = mask | BIT(c) }
		:: d_step { owner[c] == me && user[c] == me -> mask = mask | BIT(c) }
		:: d_step { owner[c] != me && user[c] == me -> borrowed[me] = borrowed[me] | BIT(c) }
		/* own_lent: what is lent is ours still; a rank that does not lend (any more) takes it back. */
		:: d_step { owner[c] == me && lent[c] && lending[me] -> mask = mask | BIT(c) }
		:: d_step { owner[c] == me && lent[c] && !lending[me] -> b = user[c]; user[c] = me; lent[c] = false;
			    mask = mask | BIT(c) } ->
			CHECK_FREE(c)
			if
			:: b != NOBODY -> mal_bind_evict(b, c)
			:: else
			fi;
			b = 0
		:: else
		fi;
		c++
	:: else -> d_step { own[me] = mask; c = 0; mask = 0 }; break
	od
}

/* cpus.c: mal_cpus_refresh */
inline mal_cpus_refresh()
{
	if
	:: changes[me] -> changes[me] = false; read_words()
	:: else
	fi
}

/* bind.c: mal_bind_send_home */
inline mal_bind_send_home(c)
{
	d_step {
		b = tid[me] && place[me] == c;
		p = HIGH(own[me]);
		if
		:: b -> place[me] = p
		:: else
		fi
	};
	if
	:: b -> bind_to(me, p)
	:: else
	fi;
	atomic { p = 0; b = 0 }
}

/* cpus.c: mal_cpus_release */
inline mal_cpus_release()
{
	mal_cpus_refresh();
	do
	:: borrowed[me] ->
		i = LOW(borrowed[me]);
		mal_bind_send_home(i);
		d_step {
			i = 0;
			c = LOW(borrowed[me]);
			if
			:: lent[c] && user[c] == me -> user[c] = NOBODY
			:: else
			fi;
			borrowed[me] = borrowed[me] & (63 - BIT(c));
			ALSO_CHECK_FREE(c)
			c = 0
		}
	:: else -> break
	od
}

/* cpus.c: mal_cpus_borrow; one CPU. */
inline mal_cpus_borrow()
{
	d_step {
		c = 0;
		do
		:: c < CPUS && !borrowed[me] && MAY_BORROW ->
			if
			:: lent[c] && user[c] == NOBODY && owner[c] != me ->
				user[c] = me;
				borrowed[me] = borrowed[me] | BIT(c)
			:: else
			fi;
			c++
		:: else -> break
		od;
		c = 0
	}
#ifdef HINTS
	;
	if
	:: borrowed[me] -> mal_free_check(LOW(borrowed[me]))
	:: else
	fi
#endif
}

/* request.c: mal_request_ask: a region asks only while it is open. */
inline mal_request_ask(r)
{
	d_step {
		if
		:: request[r] == OPENED -> request[r] = ASKS
		:: else
		fi
	}
}

/* cpus.c: is_running, give: who gets a CPU may end at the same moment; then it is free. */
inline give(c, to)
{
	d_step {
		sent = false;
		if
		:: owner[c] == me ->
			owner[c] = to;
			sent = true;
			if
			:: user[c] == me || user[c] == NOBODY -> user[c] = NOBODY; lent[c] = false
			:: user[c] == to -> lent[c] = false
			:: else
			fi
		:: else
		fi
	};
	if
	:: sent ->
		changes[to] = true;
#ifndef FAULT_MOVED_TO_ENDED
		if
		:: state[to] != RUNNING -> word_recover(c, to)
		:: else -> mal_bind_spread(to, c)
		fi
#else
		mal_bind_spread(to, c)
#endif
	:: else
	fi
}

/* cpuword.h: mal_word_recover */
inline word_recover(c, r)
{
	d_step {
		if
		:: user[c] == r -> user[c] = NOBODY
		:: else
		fi;
		if
		:: owner[c] == r -> lent[c] = true
		:: else
		fi
	}
}

#ifdef FAULT_MOVED_TO_ENDED
#define MAY_MOVE(to) true
#else
#define MAY_MOVE(to) (state[to] == RUNNING)
#endif
#define GIVES(i) ((own[me] & BIT(i)) && target[i] != NOBODY && target[i] != me && own[me] != BIT(i) && MAY_MOVE(target[i]))
/* cpus.c: mal_cpus_apply_plan: one CPU, and never the last. */
inline mal_cpus_apply_plan()
{
	atomic { plan_seen[me] = true; changes[me] = false };
	read_words();
	do
	:: i < CPUS && GIVES(i) ->
		own[me] = own[me] & (63 - BIT(i));
		mal_bind_team(me);
		give(i, target[i]);
		i++
	:: atomic { i < CPUS && !GIVES(i) -> i++ }
	:: i >= CPUS -> break
	od;
	i = 0
}

/* lend.c: mal_call_begin */
inline mal_call_begin()
{
	BEGIN;
	if
	:: borrowed[me] || changes[me] -> mal_cpus_release()
	:: else
	fi;
	if
	:: planned && !plan_seen[me] -> mal_cpus_apply_plan()
	:: else
	fi;
	END(waiting[me] = true)
}

/* lend.c: roll_back: the CPU comes back, and whoever is on it goes. */
inline roll_back(c, h)
{
	d_step {
		b = NOBODY;
		if
		:: owner[c] == me && lent[c] -> b = user[c]; user[c] = me; lent[c] = false
		:: else
		fi
	};
#ifndef FAULT_ROLL_BACK
#ifdef FAULT_RETURNED
	if
	:: b == h -> mal_bind_evict(h, c)
	:: else
	fi;
#else
	mal_bind_evict(h, c);
	if
	:: b != h && b != NOBODY -> mal_bind_evict(b, c)
	:: else
	fi;
#endif
#endif
	sent = false
}

/* lend.c: grant */
inline grant(c, h)
{
	d_step {
		b = 0;
		if
		:: owner[c] == me && ((user[c] == me && !lent[c]) || (user[c] == NOBODY && lent[c])) ->
			user[c] = h; lent[c] = true; b = 1
		:: else
		fi
	};
	if
	:: b ->
		CHECK_FREE(c)
		mal_bind_spread(h, c);
		if
		:: sent ->
			changes[h] = true;
#ifndef FAULT_LATE_GRANT
			/* mal_request_grant: its region may have ended: then nobody would give the CPU back. */
			if
			:: request[h] == CLOSED -> roll_back(c, h)
			:: else -> sent = false
			fi
#else
			sent = false
#endif
		:: else -> roll_back(c, h)
		fi
	:: else
	fi;
	b = 0
}

/* lend.c: lend_or_grant. H is a rank that was found asking before, or NOBODY. */
inline lend_or_grant(c)
{
	d_step { h = (request[(me + 1) % RANKS] == ASKS -> (me + 1) % RANKS : (request[(me + 2) % RANKS] == ASKS -> (me + 2) % RANKS : NOBODY)) };
	if
	:: h != NOBODY -> grant(c, h); h = 0
	:: else -> h = 0
	fi;
	d_step {
		if
		:: owner[c] == me && user[c] == me && !lent[c] -> user[c] = NOBODY; lent[c] = true
		:: else
		fi
	}
#ifdef HINTS
	;
	mal_free_check(c)
#endif
}

/* lend.c: mal_wait_poll */
inline mal_wait_poll()
{
#ifdef HINTS
	if
	:: MAY_LEND ->
#endif
	atomic { BEGIN; lending[me] = true };
	do
	:: atomic { i < CPUS && (own[me] & BIT(i)) -> skip }; lend_or_grant(i); i++
	:: atomic { i < CPUS && !(own[me] & BIT(i)) -> i++ }
	:: i >= CPUS -> break
	od;
	END(i = 0)
#ifdef HINTS
	:: else
	fi
#endif
}

/* lend.c: wait_end, take_back */
inline wait_end()
{
	atomic { BEGIN; waiting[me] = false };
	do
	:: d_step { i < CPUS && lending[me] && (own[me] & BIT(i)) && owner[i] == me && lent[i] ->
		    b = user[i]; user[i] = me; lent[i] = false };
		CHECK_FREE(i)
		if
		:: b != NOBODY && b != me ->
			mal_bind_evict(b, i);
			if
			:: sent ->
#ifdef FAULT_LATE_REQUEST
				request[b] = ASKS
#else
				mal_request_ask(b)
#endif
			:: else
			fi
		:: else
		fi;
		atomic { b = 0; sent = false; i++ }
	:: atomic { i < CPUS && !(lending[me] && (own[me] & BIT(i)) && owner[i] == me && lent[i]) -> i++ }
	:: i >= CPUS -> break
	od;
	END(lending[me] = false; i = 0)
}

/* region.c: mal_region_begin, prepare; and the region until its end. */
inline region()
{
	BEGIN;
	mal_cpus_refresh();
	mal_cpus_borrow();
	/* begin_sharing */
	BORROWER(true)
	request[me] = (borrowed[me] -> OPENED : ASKS);
	mal_bind_team(me);
	END(computing[me] = true; starting[me] = !tid[me]);
	/* mal_region_end: after the last thread */
	atomic { !starting[me] -> BEGIN; computing[me] = false };
	END(request[me] = CLOSED)
}

/* cpus.c: mal_cpus_leave; attach.c: leave. */
inline mal_cpus_leave()
{
	BEGIN;
	BORROWER(false)
	mal_cpus_release();
#ifndef FAULT_MOVED_TO_ENDED
	state[me] = ENDED;
#endif
	c = 0;
	do
	:: c < CPUS ->
		d_step {
			if
			:: owner[c] == me && (user[c] == NOBODY || user[c] == me) -> user[c] = NOBODY; lent[c] = true
			:: else
			fi;
			ALSO_CHECK_FREE(c)
			c++
		}
	:: else ->
		d_step {
			c = 0;
			state[me] = ENDED;
			alive[me] = false;
			recovered[me] = true;
			under_way[me] = 0;
			check_now()
		};
		break
	od
}

#define LOCALS byte c, i, j, x, y, p, b, h, rf, mask; bool sent LOCAL_HINTS

/* A rank that computes REGIONS regions, with a wait behind each, and ends. */
proctype computes(byte me; byte regions; byte polls)
{
	LOCALS;
	byte n, k;
	{
		do
		:: n < regions ->
			region();
			mal_call_begin();
			k = 0;
			do
			:: k < polls -> mal_wait_poll(); k++
			:: break
			od;
			k = 0;
			wait_end();
			n++
		:: else -> break
		od;
		n = 0;
#ifndef SCENE_LEND
		mal_cpus_leave()
#endif
	} unless { !alive[me] }
}

/* A rank that waits WAITS times, and ends. */
proctype waits(byte me; byte times; byte polls)
{
	LOCALS;
	byte n, k;
	{
		do
		:: n < times ->
			mal_call_begin();
			k = 0;
			do
			:: k < polls -> mal_wait_poll(); k++
			:: break
			od;
			k = 0;
			wait_end();
			BEGIN;
			mal_cpus_refresh();
			END(skip);
			n++
		:: else -> break
		od;
		n = 0;
#ifndef SCENE_LEND
		mal_cpus_leave()
#endif
	} unless { !alive[me] }
}

/* ompt.c: enter_team; bind.c: mal_bind_self: the team's last thread comes late, and binds itself. */
proctype thread(byte me)
{
	LOCALS;
	{
		atomic { starting[me] -> BEGIN; tid[me] = true };
		p = place[me];
		bind_to(me, p);
		leave_if_reclaimed(me, p);
		END(p = 0; starting[me] = false)
	} unless { !alive[me] }
}

/* ranks.c: recover; with mal_place_bind (evict.c: mal_evict_rebind): what a dead rank left half done is done. */
proctype controller(byte dead)
{
	LOCALS;
	byte r;
end:	atomic {
		!alive[dead] && !recovered[dead] ->
		if
		:: state[dead] == RUNNING -> state[dead] = DEAD
		:: else
		fi
	};
	request[dead] = CLOSED;
#ifdef HINTS
	borrower[dead] = false;
#ifndef FAULT_DEAD_BORROWER
	mal_borrower_check(dead);
#endif
#endif
	r = 0;
	do
	:: r < RANKS ->
		if
		:: alive[r] && r != dead ->
#ifndef FAULT_DEAD_BINDER
			p = place[r];
			if
			:: p != NONE && tid[r] -> bind_to(r, p)
			:: else
			fi;
			p = 0;
#endif
			mal_request_ask(r)
		:: else
		fi;
		r++
	:: else -> break
	od;
	r = 0;
	i = 0;
	d_step { changes[0] = true; changes[1] = true; changes[2] = true };
	do
	:: i < CPUS ->
		word_recover(i, dead);
#ifndef FAULT_DEAD_GIVER
		/* take_from_waiting */
		p = user[i];
		if
		:: owner[i] == dead && p != NOBODY && request[p] == CLOSED ->
			d_step {
				if
				:: user[i] == p && lent[i] -> user[i] = NOBODY; b = true
				:: else
				fi
			};
			if
			:: b && place[p] == i && tid[p] -> bind_to(p, i)
			:: else
			fi
		:: else
		fi;
		atomic { p = 0; b = 0 };
#endif
#if defined(HINTS) && !defined(FAULT_DEAD_FREE)
		mal_free_check(i);
#endif
		i++
	:: else ->
		d_step {
			i = 0;
			changes[0] = true;
			changes[1] = true;
			changes[2] = true;
			recovered[dead] = true;
			check_now()
		};
		break
	od
}

/* A plan: each CPU may be given to another rank, whether that has ended meanwhile or not. */
proctype planner(byte cpu; byte to)
{
	d_step { target[cpu] = to; planned = true }
}

/* Any rank that lives, at any moment. */
proctype killer(byte victim)
{
	byte j;
	if
	:: d_step { alive[victim] -> alive[victim] = false; under_way[victim] = 0 }
	:: true
	fi
}

init
{
	byte r, k;
	d_step {
		do
		:: r < RANKS ->
			alive[r] = true;
			state[r] = RUNNING;
			place[r] = NONE;
			at[r] = r * CPUS_EACH;
			k = 0;
			do
			:: k < CPUS_EACH ->
				owner[r * CPUS_EACH + k] = r;
				user[r * CPUS_EACH + k] = r;
				target[r * CPUS_EACH + k] = NOBODY;
				own[r] = own[r] | BIT(r * CPUS_EACH + k);
				k++
			:: else -> break
			od;
			r++
		:: else -> break
		od;
		r = 0;
		k = 0
	};
	atomic {
#ifdef SCENE_LEND
		/* One computes twice; one waits and lends, or both others do, whoever is named. */
		run computes(0, REGIONS, POLLS);
		run thread(0);
		run waits(1, 1, 1);
#ifdef BOTH_WAIT
		run waits(2, 1, 1);
#endif
#endif
#ifdef SCENE_MOVE
		/* One computes, one gives a CPU away; one ends at any moment, to which CPUs are moved. */
		run computes(0, 1, 0);
		run thread(0);
		run waits(1, 1, 0);
		run waits(2, 0, 1);
		run planner(2 * CPUS_EACH - 1, 2);
#endif
#ifdef SCENE_DIE
		/* One computes, one lends, and one of both is killed at any moment. The third one waits from the beginning. */
		run computes(0, 1, 0);
		run thread(0);
		run waits(1, 1, 1);
		run killer(VICTIM);
		run controller(VICTIM);
#endif
	}
}

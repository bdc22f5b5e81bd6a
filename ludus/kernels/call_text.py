"""The text of calls, in LLVM's language: `ludus.kernels.call` says what it does, and fills in what is in brackets.

Numba has no atomics for processors, and nobody needs a C compiler. Pointers are written with types, which LLVM's newer
releases have dropped: there all of them become `ptr`.
"""

__all__ = ["ARRAY", "CALLING", "SHARING"]

CALLING = """
declare i64 @ludus_save_thread()
declare void @ludus_restore_thread(i64)
declare i64 @ludus_long_from(i64)
declare i64 @ludus_long_as(i64)

define i64 @loop_over(i64* %call, i64 %first, i64 %stop, i64* %found) {
  %address = load i64, i64* %call
  %loop = inttoptr i64 %address to <LOOP>
  %words = getelementptr i64, i64* %call, i64 <HEAD>
  %error = getelementptr i64, i64* %found, i64 1
  %status = call i32 %loop(i64* %found, i64* %error, i64 %first, i64 %stop, i64* %words)
  %wide = sext i32 %status to i64
  %status_at = getelementptr i64, i64* %found, i64 2
  store i64 %wide, i64* %status_at
  ret i64 %wide
}

define i64* @taken(i64 %self, i64* %args) {
  %address = call i64 @ludus_long_as(i64 %self)
  %call = inttoptr i64 %address to i64*
  <ARRAYS>
  ret i64* %call
}

define i64 @given(i64* %found) {
  %status_at = getelementptr i64, i64* %found, i64 2
  %status = load i64, i64* %status_at
  %failed = icmp ne i64 %status, 0
  %count = load i64, i64* %found
  %result = select i1 %failed, i64 <FAULT>, i64 %count
  %object = call i64 @ludus_long_from(i64 %result)
  ret i64 %object
}

define i64 @run_alone(i64 %self, i64* %args, i64 %number) {
  %call = call i64* @taken(i64 %self, i64* %args)
  %lanes_at = getelementptr i64, i64* %call, i64 <LANES>
  %lanes = load i64, i64* %lanes_at
  %found_at = getelementptr i64, i64* %call, i64 <FOUND>
  %found_address = load i64, i64* %found_at
  %found = inttoptr i64 %found_address to i64*
  %thread = call i64 @ludus_save_thread()
  %status = call i64 @loop_over(i64* %call, i64 0, i64 %lanes, i64* %found)
  call void @ludus_restore_thread(i64 %thread)
  %object = call i64 @given(i64* %found)
  ret i64 %object
}
"""

ARRAY = """
  %at_<N> = getelementptr i64, i64* %args, i64 <N>
  %object_<N> = load i64, i64* %at_<N>
  %field_<N> = add i64 %object_<N>, <DATA>
  %data_at_<N> = inttoptr i64 %field_<N> to i64*
  %data_<N> = load i64, i64* %data_at_<N>
  %place_<N> = getelementptr i64, i64* %call, i64 <PLACE>
  store i64 %data_<N>, i64* %place_<N>
"""

SHARING = """
declare i64 @syscall(i64, ...)
declare void <DECLARED>

define i64 @take(i64* %team, i1 %behind) {
begin:
  %share_at = getelementptr i64, i64* %team, i64 <SHARE>
  %share = load atomic i64, i64* %share_at monotonic, align 8
  br label %look
look:
  %word = load atomic i64, i64* %team acquire, align 8
  %front = and i64 %word, 65535
  %rest = lshr i64 %word, 16
  %back = and i64 %rest, 65535
  %some = icmp ult i64 %front, %back
  br i1 %some, label %try, label %none
try:
  %left = sub i64 %back, %front
  %part = lshr i64 %left, %share
  %least = icmp eq i64 %part, 0
  %size = select i1 %least, i64 1, i64 %part
  %up = add i64 %word, %size
  %less = shl i64 %size, 16
  %down = sub i64 %word, %less
  %next = select i1 %behind, i64 %down, i64 %up
  %pair = cmpxchg i64* %team, i64 %word, i64 %next acq_rel acquire
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %got, label %look
got:
  %last = sub i64 %back, %size
  %piece = select i1 %behind, i64 %last, i64 %front
  %wide = shl i64 %size, 32
  %taken = or i64 %wide, %piece
  ret i64 %taken
none:
  ret i64 -1
}

define i64 @do_pieces(i64* %call, i64 %taken) {
  %piece = and i64 %taken, 4294967295
  %number = lshr i64 %taken, 32
  %lanes_at = getelementptr i64, i64* %call, i64 <LANES>
  %lanes = load i64, i64* %lanes_at
  %size_at = getelementptr i64, i64* %call, i64 <SIZE>
  %size = load i64, i64* %size_at
  %found_at = getelementptr i64, i64* %call, i64 <FOUND>
  %found_address = load i64, i64* %found_at
  %all_found = inttoptr i64 %found_address to i64*
  %place = mul i64 %piece, <RESULT>
  %found = getelementptr i64, i64* %all_found, i64 %place
  %first = mul i64 %piece, %size
  %long = mul i64 %number, %size
  %whole = add i64 %first, %long
  %beyond = icmp sgt i64 %whole, %lanes
  %stop = select i1 %beyond, i64 %lanes, i64 %whole
  %status = call i64 @loop_over(i64* %call, i64 %first, i64 %stop, i64* %found)
  %number_at = getelementptr i64, i64* %found, i64 3
  store i64 %number, i64* %number_at
  ret i64 %number
}

define void @serve(i64* %team, i64 %looks) {
begin:
  %done_at = getelementptr i64, i64* %team, i64 <DONE>
  %asleep_at = getelementptr i64, i64* %team, i64 <ASLEEP>
  %job_at = getelementptr i64, i64* %team, i64 <JOB>
  %address = ptrtoint i64* %team to i64
  %ticket_address = add i64 %address, 4
  br label %look
look:
  %count = phi i64 [0, %begin], [0, %work], [0, %awake], [%more, %again]
  %seen = load atomic i64, i64* %team seq_cst, align 8
  %piece = call i64 @take(i64* %team, i1 1)
  %got = icmp sge i64 %piece, 0
  br i1 %got, label %work, label %again
work:
  %job = load i64, i64* %job_at
  %call = inttoptr i64 %job to i64*
  %number = call i64 @do_pieces(i64* %call, i64 %piece)
  %before = atomicrmw add i64* %done_at, i64 %number release
  br label %look
again:
  call void <PAUSE>
  %more = add i64 %count, 1
  %enough = icmp sge i64 %more, %looks
  br i1 %enough, label %sleep, label %look
sleep:
  %sleepers = atomicrmw add i64* %asleep_at, i64 1 seq_cst
  %now = load atomic i64, i64* %team seq_cst, align 8
  %old_ticket = lshr i64 %seen, 32
  %new_ticket = lshr i64 %now, 32
  %same = icmp eq i64 %old_ticket, %new_ticket
  br i1 %same, label %wait, label %awake
wait:
  %expected = trunc i64 %old_ticket to i32
  %slept = call i64 (i64, ...) @syscall(i64 <FUTEX>, i64 %ticket_address, i32 <WAIT>, i32 %expected, i64 0)
  br label %awake
awake:
  %others = atomicrmw sub i64* %asleep_at, i64 1 seq_cst
  br label %look
}

define void @share(i64* %call, i64* %team) {
begin:
  %done_at = getelementptr i64, i64* %team, i64 <DONE>
  %asleep_at = getelementptr i64, i64* %team, i64 <ASLEEP>
  %job_at = getelementptr i64, i64* %team, i64 <JOB>
  %pieces_at = getelementptr i64, i64* %call, i64 <PIECES>
  %pieces = load i64, i64* %pieces_at
  %patience_at = getelementptr i64, i64* %call, i64 <PATIENCE>
  %patience = load i64, i64* %patience_at
  %nap = alloca i64, i64 2
  store i64 0, i64* %nap
  %nanoseconds_at = getelementptr i64, i64* %nap, i64 1
  store i64 <NAP>, i64* %nanoseconds_at
  %job = ptrtoint i64* %call to i64
  store i64 %job, i64* %job_at
  %wanted_at = getelementptr i64, i64* %call, i64 <PART>
  %wanted = load i64, i64* %wanted_at
  %share_at = getelementptr i64, i64* %team, i64 <SHARE>
  store atomic i64 %wanted, i64* %share_at monotonic, align 8
  store atomic i64 0, i64* %done_at release, align 8
  %word = load atomic i64, i64* %team acquire, align 8
  %old_ticket = lshr i64 %word, 32
  %ticket = add i64 %old_ticket, 1
  %high = shl i64 %ticket, 32
  %middle = shl i64 %pieces, 16
  %put_up = or i64 %high, %middle
  store atomic i64 %put_up, i64* %team seq_cst, align 8
  %asleep = load atomic i64, i64* %asleep_at seq_cst, align 8
  %any = icmp sgt i64 %asleep, 0
  br i1 %any, label %wake, label %next
wake:
  %address = ptrtoint i64* %team to i64
  %ticket_address = add i64 %address, 4
  %woken = call i64 (i64, ...) @syscall(i64 <FUTEX>, i64 %ticket_address, i32 <WAKE>, i32 2147483647)
  br label %next
next:
  %mine = phi i64 [0, %begin], [0, %wake], [%mine_now, %work]
  %piece = call i64 @take(i64* %team, i1 0)
  %got = icmp sge i64 %piece, 0
  br i1 %got, label %work, label %rest
work:
  %number = call i64 @do_pieces(i64* %call, i64 %piece)
  %mine_now = add i64 %mine, %number
  br label %next
rest:
  %theirs = sub i64 %pieces, %mine
  br label %look
look:
  %count = phi i64 [0, %rest], [%more, %again], [%count, %rested]
  %done = load atomic i64, i64* %done_at acquire, align 8
  %over = icmp eq i64 %done, %theirs
  br i1 %over, label %end, label %patient
patient:
  %impatient = icmp sge i64 %count, %patience
  br i1 %impatient, label %rested, label %again
again:
  call void <PAUSE>
  %more = add i64 %count, 1
  br label %look
rested:
  %napped = call i64 (i64, ...) @syscall(i64 <NANOSLEEP>, i64* %nap, i64 0)
  br label %look
end:
  ret void
}

define void @gather(i64* %found, i64 %pieces) {
begin:
  %first_error = getelementptr i64, i64* %found, i64 1
  %first_status = getelementptr i64, i64* %found, i64 2
  br label %next
next:
  %piece = phi i64 [0, %begin], [%after, %look]
  %total = phi i64 [0, %begin], [%sum, %look]
  %error = phi i64 [0, %begin], [%error_now, %look]
  %status = phi i64 [0, %begin], [%status_now, %look]
  %some = icmp slt i64 %piece, %pieces
  br i1 %some, label %look, label %end
look:
  %place = mul i64 %piece, <RESULT>
  %here = getelementptr i64, i64* %found, i64 %place
  %count = load i64, i64* %here
  %error_at = getelementptr i64, i64* %here, i64 1
  %status_at = getelementptr i64, i64* %here, i64 2
  %number_at = getelementptr i64, i64* %here, i64 3
  %error_here = load i64, i64* %error_at
  %status_here = load i64, i64* %status_at
  %number = load i64, i64* %number_at
  %after = add i64 %piece, %number
  %sum = add i64 %total, %count
  %well = icmp eq i64 %status, 0
  %error_now = select i1 %well, i64 %error_here, i64 %error
  %status_now = select i1 %well, i64 %status_here, i64 %status
  br label %next
end:
  store i64 %total, i64* %found
  store i64 %error, i64* %first_error
  store i64 %status, i64* %first_status
  ret void
}

define i64 @run_together(i64 %self, i64* %args, i64 %number) {
begin:
  %call = call i64* @taken(i64 %self, i64* %args)
  %found_at = getelementptr i64, i64* %call, i64 <FOUND>
  %found_address = load i64, i64* %found_at
  %found = inttoptr i64 %found_address to i64*
  %team_at = getelementptr i64, i64* %call, i64 <TEAM>
  %team_address = load i64, i64* %team_at
  %team = inttoptr i64 %team_address to i64*
  %busy_at = getelementptr i64, i64* %team, i64 <BUSY>
  %pieces_at = getelementptr i64, i64* %call, i64 <PIECES>
  %pieces = load i64, i64* %pieces_at
  %thread = call i64 @ludus_save_thread()
  %status = call i64 @loop_over(i64* %call, i64 0, i64 0, i64* %found)
  %checked = load i64, i64* %found
  %fine = icmp eq i64 %checked, 0
  br i1 %fine, label %ask, label %end
ask:
  %pair = cmpxchg i64* %busy_at, i64 0, i64 1 acq_rel acquire
  %free = extractvalue { i64, i1 } %pair, 1
  br i1 %free, label %together, label %alone
together:
  call void @share(i64* %call, i64* %team)
  store atomic i64 0, i64* %busy_at release, align 8
  call void @gather(i64* %found, i64 %pieces)
  br label %end
alone:
  %lanes_at = getelementptr i64, i64* %call, i64 <LANES>
  %lanes = load i64, i64* %lanes_at
  %status_alone = call i64 @loop_over(i64* %call, i64 0, i64 %lanes, i64* %found)
  br label %end
end:
  call void @ludus_restore_thread(i64 %thread)
  %object = call i64 @given(i64* %found)
  ret i64 %object
}

define void @look_on(i64 %looks) {
begin:
  br label %look
look:
  %count = phi i64 [0, %begin], [%more, %look]
  call void <PAUSE>
  %more = add i64 %count, 1
  %enough = icmp sge i64 %more, %looks
  br i1 %enough, label %end, label %look
end:
  ret void
}
"""
